"""Several figures as panels (a), (b), ... of one: a grid of parts of equal width, and the keys of all in one legend."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import FigureBase, SubFigure

from analysis.export.choices import FigureChoices
from analysis.export.figures import FIGURES, Drawing
from analysis.export.figures.base import Keys
from analysis.export.figures.legend import merged
from analysis.export.figures.panel_row import LETTERS, NARROWEST
from glt.errors import ConfigError
from glt.printable import quoted
from glt.store import Run

# Inches that the letter over a panel takes.
LETTER = 0.17
# A panel is drawn higher than it was planned by so many inches at most.
STRETCH = 0.8
MOST = 12

Shape = tuple[int, int]


def shape_of(text: str | None, count: int, width: float) -> Shape:
    """Return rows and columns for `count` panels; raises ConfigError for a shape that does not hold them.

    >>> shape_of("2x3", 5, 6.75), shape_of(None, 3, 6.75), shape_of(None, 3, 3.25)
    ((2, 3), (2, 2), (3, 1))
    """
    if text is None:
        across = min(count, max(1, int(width / NARROWEST)))
        return math.ceil(count / across), across
    given = re.fullmatch("([1-9])\\s*[x\N{MULTIPLICATION SIGN}]\\s*([1-9])", text.strip(), re.ASCII | re.IGNORECASE)
    if given is None:
        raise ConfigError(f"The panels {quoted(text)} are no shape: give rows and columns, such as 2x2.")
    rows, columns = int(given[1]), int(given[2])
    if rows * columns < count:
        raise ConfigError(f"{count} figures do not fit into {rows} by {columns} panels: choose a larger shape.")
    return rows, columns


def panels(names: Sequence[str], runs: Sequence[Run], choices: FigureChoices, shape: Shape) -> Drawing:
    """Plan figures as the panels of one, row by row; raises as each of them does, and ConfigError for too many."""
    if len(names) > MOST:
        raise ConfigError(f"{len(names)} figures are too many for one page: choose at most {MOST}.")
    rows, columns = shape
    entries = [FIGURES.get(name) for name in names]
    drawings = [entry.plan(runs, choices, choices.width / columns) for entry in entries]
    heights = [
        LETTER + max((drawing.height for drawing in drawings[start : start + columns]), default=0.0)
        for start in range(0, rows * columns, columns)
        if start < len(names)
    ]

    def fill(figure: FigureBase) -> Keys:
        parts = figure.subfigures(len(heights), columns, squeeze=False, height_ratios=heights)
        about = zip(parts.flat, LETTERS, drawings, strict=False)
        return merged([_fill(part, letter, drawing) for part, letter, drawing in about])

    told = " ".join(f"({letter}) {drawing.caption}" for letter, drawing in zip(LETTERS, drawings, strict=False))
    return Drawing(_points(names, drawings), told, sum(heights), fill)


def _fill(part: SubFigure, letter: str, drawing: Drawing) -> Keys:
    part.suptitle(f"({letter})", x=0.01, ha="left", fontweight="bold", fontsize="medium")
    spare = part.bbox.height / part.figure.dpi - LETTER - drawing.height
    if spare < STRETCH:
        return drawing.fill(part)
    # Beside a much taller panel a lower one keeps its own shape.
    both: Any = part.subfigures(2, 1, height_ratios=(drawing.height, spare))
    return drawing.fill(both[0])


def _points(names: Sequence[str], drawings: Sequence[Drawing]) -> pd.DataFrame:
    about = zip(LETTERS, names, drawings, strict=False)
    parts = [drawing.points.assign(part=letter, figure=name) for letter, name, drawing in about]
    table = pd.concat(parts, ignore_index=True)
    return table[["part", "figure", *(column for column in table if column not in ("part", "figure"))]]
