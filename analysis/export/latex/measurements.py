"""The measurement table as LaTeX, laid out as the paper's: a line a measure, a column a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis import published
from analysis.export.latex.writing import booktabs, number
from analysis.export.letters import escape
from analysis.labels import dataset_label
from analysis.measures import descriptions
from analysis.statistics import half_width
from analysis.tables.captions import averaged_over

COUNTS = ("graph_sparsity", "edges_kept_either_way", "edges_kept_both_ways")
SMALL = 1e3
SHOWN = (*COUNTS, *published.MEASUREMENT_ROWS)


def measurements_latex(
    table: pd.DataFrame, dataset: str, shown: Sequence[str] = SHOWN, label: str = "tab:measurements", note: str = ""
) -> str:
    """Return `measurement_table` as LaTeX: means over seeds with 95% t intervals, the closest to the original in bold.

    Under a measure that the paper prints, a second line gives the paper's values; a `note` ends the caption.
    """
    rows = []
    for name in shown:
        rows.append(_measure(table, name))
        if f"{name}_published" in table:
            rows.append(_paper(table, name))
    headers = ["Measurement", *table["label"]]
    return booktabs(headers, rows, caption=_caption(table, dataset, note), label=label)


def _measure(table: pd.DataFrame, name: str) -> list[str]:
    scale, decimals, unit = _scale(name, float(table[name].iloc[0]))
    # What is the same for every seed by construction (a sparsity) gets no interval.
    halves = half_width(table[f"{name}_spread"].replace(0.0, np.nan), table["seeds"])
    closest = _closest(table, name)
    cells = [
        number(scale * mean, scale * half, decimals, bold=place == closest)
        for place, (mean, half) in enumerate(zip(table[name], halves, strict=True))
    ]
    return [descriptions.label(name) + unit, *cells]


def _paper(table: pd.DataFrame, name: str) -> list[str]:
    scale, decimals, _ = _scale(name, float(table[name].iloc[0]))
    # The paper prints five decimals, of which three go into the scale.
    decimals = min(decimals, 2) if scale == SMALL else decimals
    return ["\N{EM SPACE}in the paper", *(number(scale * v, decimals=decimals) for v in table[f"{name}_published"])]


def _closest(table: pd.DataFrame, name: str) -> int | None:
    if name in (*COUNTS, "entries_kept") or len(table) < 3:
        return None
    distance = (table[name] - table[name].iloc[0]).abs().iloc[1:]
    return None if distance.isna().all() else int(np.nanargmin(distance.to_numpy())) + 1


def _scale(name: str, original: float) -> tuple[float, int, str]:
    if descriptions.is_share(name):
        return 100.0, 1, " (%)"
    if descriptions.is_counted(name):
        return 1.0, 0 if abs(original) >= 100 else 1, ""
    if original and abs(original) < 0.01:
        return SMALL, 3, " (\N{MULTIPLICATION SIGN}10\N{SUPERSCRIPT MINUS}\N{SUPERSCRIPT THREE})"
    return 1.0, 0 if abs(original) >= 100 else 2 if abs(original) > 1 else 4, ""


def _caption(table: pd.DataFrame, dataset: str, note: str) -> str:
    # Of the original there is one; a graph that no seed has yet says nothing.
    seeds = [int(count) for count in table["seeds"].iloc[1:] if count] or [1]
    over = averaged_over(seeds).replace("95% t", r"95\% $t$")
    rounds = sorted({number for numbers in table["rounds"] for number in numbers})
    after = f" after round{'s' if len(rounds) > 1 else ''} {', '.join(map(str, rounds))}" if rounds else ""
    parts = [
        f"Graph measurements of {escape(dataset_label(dataset))} and of what pruning leaves of it{after}: {over}",
        "an edge is kept when either direction is",
        "bold: the mean closest to the original (not tested)",
    ]
    printed = any(column.endswith("_published") for column in table)
    if printed:
        parts.append(escape(published.measured_at(dataset)).replace("The", "the", 1).removesuffix("."))
    if printed and published.swapped(dataset):
        parts.append("they are taken from under the heading it swapped them with")
    return " ".join(["; ".join(parts) + ".", *([escape(note)] if note else [])])
