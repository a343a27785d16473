"""Differences of two runs over the rounds: the mean with its 95% interval around a line at 0, every seed faintly."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis import palette
from analysis.compare import SPARSITY, At
from analysis.drawing.description import EVEN, Axis, Band, Description, Ink, Key, Label, Layer, Line, Marks, Panel, Rule
from analysis.palette import escape
from analysis.statistics import WORDS, seeds_words
from glt import formats
from glt.verdicts import detects_words

HEIGHT = 420
# An interval far beyond all seeds is cut off this far (points) from them.
MOST_BAND = 5.0
TITLES: dict[At, str] = {
    "round": "Round",
    "graph": "Graph sparsity (% of edge entries removed)",
    "weight": "Weight sparsity (% of weights removed)",
}
# Up to so many rounds all are numbered; the share of the axis that stays free beyond the first and the last.
FEW, EDGE = 20, 0.02
INTERVAL, SEEDS = "95% interval", "each seed"


class Side(NamedTuple):
    """One of the two runs: its name, label and look."""

    run: str
    label: str
    style: palette.Style


class _Kind(NamedTuple):
    verdict: str
    shape: str
    ink: Ink
    name: str


def paired_differences(
    table: pd.DataFrame, seeds: pd.DataFrame, one: Side, other: Side, at: At = "round"
) -> Description:
    """Describe a `paired_table` over the `paired_seeds` it came from, in points of the score.

    Marks point up where `one` is significantly higher, down where it is significantly lower, and are open elsewhere.
    A mark's key is [run of one, round].
    """
    # An interval far beyond all seeds is cut off.
    drawn = 100 * np.concatenate([seeds["difference"], [0.0]])
    bounds = 100 * np.concatenate([table["low"].dropna(), table["high"].dropna()])
    shown = np.concatenate([drawn, bounds.clip(drawn.min() - MOST_BAND, drawn.max() + MOST_BAND)])
    pad = 0.12 * max(float(np.ptp(shown)), 1.0)
    low, high = float(shown.min()) - pad, float(shown.max()) + pad
    last = float(table["round"].max())
    ends = (-EDGE * last - 0.1, (1 + EDGE) * last + 0.1) if at == "round" else None
    panel = Panel(
        x=Axis(title=TITLES[at], limits=ends, whole=FEW if at == "round" else 0),
        y=Axis(title="Difference (points)", limits=(low, high), grid=True),
        layers=[*_spread(table, seeds, at), *_marks(table, one, other, at)],
        rules=[Rule(at=0.0, ink="text", dash="solid", width=1.2)],
        labels=[
            Label(text=f"{side.label} higher", ink=side.style, top=top) for side, top in ((one, True), (other, False))
        ],
    )
    return Description(panels=[panel], keys=list(_keys(table, seeds, one, other)), points=table, height=HEIGHT)


def _x(rows: pd.DataFrame, at: At) -> np.ndarray:
    return np.asarray(rows["round"] if at == "round" else 100 * rows[SPARSITY[at]])


def _spread(table: pd.DataFrame, seeds: pd.DataFrame, at: At) -> Iterator[Layer]:
    rows = table.dropna(subset=["low", "high"])
    ends = {"low": 100 * rows["low"].to_numpy(), "high": 100 * rows["high"].to_numpy()}
    yield Band(x=_x(rows, at), **ends, opacity=0.18, name=INTERVAL)
    for _, mine in seeds.groupby("seed"):
        where = {"x": _x(mine, at), "y": 100 * mine["difference"].to_numpy()}
        yield Line(**where, opacity=0.45, width=1.0, name=SEEDS, group="seeds")
    yield Line(x=_x(table, at), y=100 * table["difference"].to_numpy(), width=1.6)


def _kinds(table: pd.DataFrame, one: Side, other: Side) -> list[_Kind]:
    kinds = (
        _Kind("higher", "triangle-up", one.style, f"{one.label} {WORDS['higher']}"),
        _Kind("lower", "triangle-down", other.style, f"{other.label} {WORDS['higher']}"),
        _Kind("none", "circle", "muted", WORDS["none"]),
        _Kind("no test", "circle", "muted", WORDS["no test"]),
    )
    return [kind for kind in kinds if (table["verdict"] == kind.verdict).any()]


def _marks(table: pd.DataFrame, one: Side, other: Side, at: At) -> Iterator[Layer]:
    for kind in _kinds(table, one, other):
        rows = table[table["verdict"] == kind.verdict]
        yield Marks(
            x=_x(rows, at),
            y=100 * rows["difference"].to_numpy(),
            shape=kind.shape,
            filled=kind.shape != "circle",
            ink=kind.ink,
            rim=1.4,
            name=kind.name,
            keys=[[one.run, int(number)] for number in rows["round"]],
            hover=[_text(row, one, other) for row in rows.to_dict("records")],
        )


def _text(row: Mapping[Hashable, Any], one: Side, other: Side) -> str:
    difference = formats.points_interval(row["difference"], row["high"] - row["difference"])
    chance = formats.p_value(row["p_adjusted"])
    verdict = WORDS[row["verdict"]] + (f", {chance} (Holm over {int(row['family'])} rounds)" if chance else "")
    detectable = row["detectable"]
    detects = f"Detectable: {detects_words(detectable)}" if not np.isnan(detectable) else ""
    lines = [
        f"Round {int(row['round'])}: <b>{difference}</b>",
        formats.opening(verdict),
        *([detects] if detects else []),
        f"{escape(one.label)} {formats.percent(row['one'])}, {escape(other.label)} {formats.percent(row['other'])}",
        f"Graph sparsity {formats.percent(row['graph_sparsity'])}, weight sparsity "
        f"{formats.percent(row['weight_sparsity'])}",
        f"({seeds_words(int(row['seeds']))})",
    ]
    return "<br>".join(lines)


def _keys(table: pd.DataFrame, seeds: pd.DataFrame, one: Side, other: Side) -> Iterator[Key]:
    if table[["low", "high"]].notna().all(axis=1).any():
        yield Key(label=INTERVAL, dash="solid", width=10.0, opacity=0.3)
    if len(seeds["seed"].unique()) > 1:
        yield Key(label=SEEDS, dash="solid", width=1.0, opacity=0.6, group="seeds")
    for kind in _kinds(table, one, other):
        yield Key(label=kind.name, ink=kind.ink, shape=kind.shape, size=EVEN, filled=kind.shape != "circle")
