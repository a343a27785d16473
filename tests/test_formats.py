"""Rounding of displayed numbers: the same everywhere and in any order of summation."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as some

from analysis.figures.curves import round_text
from analysis.latex import number
from analysis.measures import descriptions
from analysis.tables.curves import curve_table
from analysis.tables.rounds import rounds_table
from app.components.downloads import cells
from app.views import curves
from glt import formats

HERE = Path(__file__).resolve().parents[1]
# A format that rounds the binary value: a fixed number of decimals, significant figures, or a percentage.
ROUNDS = re.compile(r"\.(\d+|\{\})[fg%]$")
HOVER = re.compile(r"%\{[^}]*:[^}]*\}")
FIGURES = 10_000

shares = some.integers(-3 * FIGURES, 3 * FIGURES).map(lambda whole: whole / FIGURES)


def by_hand(value: Fraction, decimals: int) -> str:
    """Round an exact fraction, halves away from zero, with whole numbers alone."""
    scaled = abs(value) * 10**decimals
    whole = math.floor(scaled + Fraction(1, 2))
    text = str(Decimal(whole).scaleb(-decimals).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))
    return f"{formats.MINUS}{text}" if value < 0 and whole else text


@given(some.lists(some.integers(0, 1000), min_size=1, max_size=12), some.randoms())
def test_means_round_exactly_in_any_order_of_summation(correct: list[int], random: np.random.Generator) -> None:
    exact = by_hand(Fraction(sum(correct), 1000 * len(correct)) * 100, 1)
    scores = [one / 1000 for one in correct]
    random.shuffle(scores)  # type: ignore[arg-type]
    for mean in (
        np.mean(scores),
        sum(scores) / len(scores),
        pd.Series(scores[::-1]).mean(),
        math.fsum(scores) / len(scores),
    ):
        assert formats.percent(float(mean)) == f"{exact} %"


@given(shares, some.integers(0, 4))
def test_all_formatters_agree(share: float, decimals: int) -> None:
    exact = by_hand(Fraction(str(share)) * 100, decimals)
    assert formats.percent(share, decimals) == f"{exact} %"
    assert formats.fixed(100 * share, decimals) == exact
    assert formats.percent_interval(share, abs(share), decimals) == f"{exact} ± {exact.lstrip(formats.MINUS)} %"
    assert formats.points(share, decimals).lstrip("+") == f"{exact} points"
    assert number(100 * share, decimals=decimals) == f"${exact.replace(formats.MINUS, '-')}$"
    assert by_browser(100 * share, decimals) == exact


@given(shares)
def test_measures_and_p_values_use_the_same_rounding(share: float) -> None:
    assert descriptions.value("reach", share) == formats.percent(share)
    assert descriptions.interval("average_clustering", share, 0.0312) == (
        f"{by_hand(Fraction(str(share)), 3)} ± {by_hand(Fraction('0.0312'), 3)}"
    )
    if 0.001 <= share < 0.0495 or 0.0505 < share < 1:
        assert float(formats.p_value(share).removeprefix("p = ")) == float(formats.figures(share, 2))


def by_browser(value: float, decimals: int) -> str:
    """Write a number as a table in the browser does, which rounds the binary value."""
    columns = {"Score": st.column_config.NumberColumn(format=f"%.{decimals}f %%")}
    shown = cells(pd.DataFrame({"Score": [value], "Other": [value]}), columns)
    assert shown["Other"].item() == value
    text = f"{shown['Score'].item():.{decimals}f}"
    return formats.true_minus(text.lstrip("-") if float(text) == 0 else text)


def test_rounding_of_known_halves() -> None:
    assert formats.percent(0.8195) == formats.percent(float(np.mean([0.82, 0.819, 0.819, 0.82]))) == "82.0 %"
    assert [formats.percent(value) for value in (0.0005, 0.0015, -0.0005)] == ["0.1 %", "0.2 %", "\N{MINUS SIGN}0.1 %"]
    assert [formats.macs(value) for value in (2.5, 12_345, 826.5e6)] == ["3", "12 k", "827 M"]


def test_table_hover_and_ticket_show_the_same_number(make_curve: pd.DataFrame) -> None:
    columns = {"Test accuracy": st.column_config.NumberColumn(format="%.1f %%")}
    shown = cells(curves.shown_columns(make_curve), columns)["Test accuracy"]
    assert [f"{value:.1f} %" for value in shown] == ["82.0 %", "81.9 %"]
    for row, percent in zip(make_curve.to_dict("records"), ("82.0 %", "81.9 %"), strict=True):
        assert f"<b>{percent}</b>" in round_text(row)  # type: ignore[arg-type]
        assert "dense 82.0 %" in round_text(row) or row["round"] == 0  # type: ignore[arg-type]


@pytest.fixture
def make_curve() -> pd.DataFrame:
    """A curve of two seeds and rounds: .8195, whose sum falls below it in binary, and .8194."""
    run = {"run": "ugs", "label": "UGS", "dataset": "cora", "task": "node", "objective": "", "model": "gcn"}
    run |= {"method": "ugs", "color": "", "data": "", "seconds": 1.0, "val": 0.8, "graph_sparsity": 0.05}
    run |= {"weight_sparsity": 0.2, "edges_kept_either_way": 0.95, "edges_kept_both_ways": 0.9}
    run |= {f"macs_{name}": 1e6 for name in ("dense_features", "sparse_features", "published")}
    tests = {0: (0.82, 0.819), 1: (0.8198, 0.819)}
    rows = [
        {**run, "round": k, "seed": seed, "test": test} for k, each in tests.items() for seed, test in enumerate(each)
    ]
    table = pd.DataFrame(rows).assign(test_last=0.5)
    missing = [name for name in rounds_table([]).columns if name not in table]
    return curve_table(table.assign(**dict.fromkeys(missing, math.nan)))


def test_no_other_rounding_in_the_product() -> None:
    """Only machine text and powers of ten (errors of the audit) may be written by a format of Python or of d3."""
    allowed = {"glt/cli/options.py", "glt/store/locks.py", "glt/formats.py"}
    paths = [path for part in ("app", "analysis", "glt") for path in sorted((HERE / part).rglob("*.py"))]
    found = [
        f"{path.relative_to(HERE)}:{line}: {text}"
        for path in paths
        if str(path.relative_to(HERE)) not in allowed
        for line, text in other_roundings(path.read_text())
    ]
    assert not found


def test_the_rounding_scan_finds_each_kind() -> None:
    source = 'a = f"{x:.1f}"; b = f"{x:,.2f}"; c = format(x, ".3f"); d = "%{y:.1%}"; e = f"{x:.{n}f}"; g = "%.1f" % x'
    assert [text for _, text in other_roundings(source)] == [".1f", ",.2f", ".{}f", ".3f", "%{y:.1%}", "%.1f"]
    assert not list(other_roundings('f"{x:g} {y:,} {z:.0e}"; NumberColumn(format="%.1f %%")'))


def other_roundings(source: str) -> Iterator[tuple[int, str]]:
    """Find the formats in a module that round the binary value: line and format."""
    for read in (f_strings, calls_of_format, texts):
        for node in ast.walk(ast.parse(source)):
            yield from ((getattr(node, "lineno", 0), found) for found in read(node))


def f_strings(node: ast.AST) -> Iterator[str]:
    """Find `f"{x:.1f}"`."""
    if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
        parts = ast.iter_child_nodes(node.format_spec)
        spec = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        yield from [spec] if ROUNDS.search(spec) else []


def calls_of_format(node: ast.AST) -> Iterator[str]:
    """Find `format(x, ".1f")`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "format":
        specs = [str(each.value) for each in node.args[1:] if isinstance(each, ast.Constant)]
        yield from (spec for spec in specs if ROUNDS.search(spec))


def texts(node: ast.AST) -> Iterator[str]:
    """Find `"%{y:.1%}"` and `"%.1f" % x`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from HOVER.findall(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        yield from [node.left.value] if isinstance(node.left.value, str) else []
