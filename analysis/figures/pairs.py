"""Losses by the classes of both ends: a matrix of shares, a panel a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.drawing.description import Axis, Description, Field, Grid, Panel
from analysis.figures.base import FIGURES, Figure, FigureChoices, Use
from analysis.figures.losers import losses_of
from analysis.labels import dataset_label
from analysis.removal.groups import pair_matrix
from glt import formats
from glt.errors import StoreError
from glt.store import Run

# From spared to lost; the middle is what chance gives. Text of the theme stands out from all by 4.5 : 1.
LIGHT, DARK = ("#5BA4D6", "#F4F6F7", "#E8845C"), ("#2A6699", "#1A1F29", "#A8431A")
GREYS = ("#FFFFFF", "#D0D0D0", "#606060")
# A matrix of more classes has small cells without numbers, and every few of them a name.
MOST_NUMBERED, MOST_NAMED = 14, 10
# Pixels of the screen: a cell with a number and one without, and what stands around cells.
CELL, SMALL_CELL, SCREEN_AROUND = 44, 15, 182
# Inches: a line of a matrix with numbers and without, its head, the bar under all.
LINE, SMALL_LINE, HEAD, BAR = 0.24, 0.06, 0.75, 0.45
MORE, LESS = "+", "\N{MINUS SIGN}"
ENOUGH = 100

Matrix = NDArray[np.float64]


def pair_losses(table: pd.DataFrame, classes: Sequence[str]) -> Description:
    """Describe the share of edges cut between every two classes, in percent; colour is the difference from chance.

    A star marks a share outside the middle 95 % of the random draws; of many classes only those have a colour.
    """
    return _describe([table], classes, [""])


def pairs(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe a matrix for each run that lost edges; raises StoreError where no class is known."""
    losses = losses_of(runs, choices)
    table = losses.table[losses.table["grouping"] == "pair"].reset_index(drop=True)
    if table.empty:
        name = dataset_label(runs[0].config.dataset)
        raise StoreError(f"{name} has no classes, so no pairs of them: choose the figure losers, which has degrees.")
    described = _describe(losses.runs, losses.classes, [rows["label"].iloc[0] for rows in losses.runs])
    numbered = len(losses.classes) <= MOST_NUMBERED
    marks = f" {MORE} and {LESS}: more and less than chance gives." if numbered else " Pale: as much as chance gives."
    told = f"Share of edges removed, in percent. {losses.caption}{marks}"
    return Description(
        panels=described.panels, points=table, caption=told, grid=described.grid, height=described.height
    )


def _describe(tables: Sequence[pd.DataFrame], classes: Sequence[str], titles: Sequence[str]) -> Description:
    count, numbered = len(classes), len(classes) <= MOST_NUMBERED
    every = 1 if numbered else -(-count // MOST_NAMED)
    matrices = []
    for table in tables:
        percent = {name: 100 * pair_matrix(table, count, name) for name in ("share", "null", "null_low", "null_high")}
        matrices.append(percent | {"size": pair_matrix(table, count, "size")})
    most = max(widest(each["share"] - each["null"], each["size"]) for each in matrices)
    axis = Axis(categories=classes, every=every)
    return Description(
        panels=[
            Panel(x=axis, y=axis, layers=[_field(each, most, numbered)], title=title)
            for each, title in zip(matrices, titles, strict=True)
        ],
        grid=Grid(ratio=0, flat=False, more=HEAD + (LINE if numbered else SMALL_LINE) * count, foot=BAR),
        height=SCREEN_AROUND + (CELL if numbered else SMALL_CELL) * count,
    )


def _field(of: dict[str, Matrix], most: float, numbered: bool) -> Field:
    share, difference = of["share"], of["share"] - of["null"]
    more, less = share > of["null_high"], share < of["null_low"]
    sides = np.where(more, MORE, np.where(less, LESS, ""))
    parts = (of["share"], of["null_low"], of["null_high"])
    texts = [[[formats.fixed(value, 1) for value in row] for row in part] for part in parts]
    texts.append([[formats.count(value) for value in row] for row in of["size"]])
    return Field(
        # A cell without a number cannot mark what lies outside chance: only those keep their colour.
        values=difference if numbered else np.where(more | less | np.isnan(difference), difference, 0.0),
        limits=(-most, most),
        colors=(LIGHT, DARK, GREYS),
        title="Points over chance",
        short_title="Percentage points over chance",
        words=_words(share, np.where(sides != "", "*", "")) if numbered else None,
        short_words=_words(share, sides) if numbered else None,
        details=[[list(cell) for cell in zip(*rows, strict=True)] for rows in zip(*texts, strict=True)],
        template=(
            "%{y}, %{x}<br>%{customdata[0]} % of %{customdata[3]} edges removed<br>"
            "by chance %{customdata[1]} to %{customdata[2]} %<extra></extra>"
        ),
    )


def _words(share: Matrix, marks: NDArray[np.str_]) -> list[list[str]]:
    return [
        ["" if np.isnan(value) else f"{formats.fixed(value, 0)}{mark}" for value, mark in zip(*row, strict=True)]
        for row in zip(share, marks, strict=True)
    ]


def widest(difference: Matrix, sizes: Matrix) -> float:
    """Return where the colours end: the largest difference of a pair of ENOUGH edges, at least 1 point.

    Of many classes, pairs with an edge or two would leave all others pale.
    """
    few = np.nan_to_num(sizes) < ENOUGH
    told = difference if few.all() or len(difference) <= MOST_NUMBERED else np.where(few, np.nan, difference)
    return float(np.nanmax(np.abs(told), initial=1.0))


USES: frozenset[Use] = frozenset({"round", "seed", "chance"})
FIGURES.register(Figure("pairs", "Losses by pairs of classes", "structure", pairs, USES))
