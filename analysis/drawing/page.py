"""A page of a paper: one figure at a venue's width, or several as lettered panels with one legend outside."""

from __future__ import annotations

import math
import re
import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure, FigureBase, SubFigure
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox

from analysis.drawing.legend import Keys, add_legend, legend_height, merged
from analysis.drawing.paper import LETTERS, Drawing, drawing
from analysis.drawing.paper_style import in_grey, paper_style
from analysis.figures.base import FIGURES, FigureChoices
from glt.errors import ConfigError, quoted
from glt.store import Run

# Width in inches of the narrowest panel whose axes can be read.
NARROWEST = 2.6
# In a narrower one (inches), titles run over the axes beside them.
LEAST_WIDTH = 1.0
# Height in inches of the letter over a panel.
LETTER = 0.17
# A panel is drawn higher than planned by less than this, in inches.
STRETCH = 0.8
# Panels on one page.
MOST_PANELS = 12
# How matplotlib warns that labels and titles leave no room for axes.
COLLAPSED = "constrained_layout not applied"
Shape = tuple[int, int]


def plan(name: str, runs: Sequence[Run], choices: FigureChoices, shape: str | None = None) -> Drawing:
    """Read what the figure called `name` shows of `runs`, or several with commas between their names.

    Several are panels in `shape` ("2x2": rows, columns; None: as many in a row as can be read). Raises ConfigError for
    an unknown name or bad choices, StoreError for runs with nothing to show.
    """
    names = [part.strip() for part in name.split(",")]
    if len(names) == 1 and shape is None:
        return _drawing(name, runs, choices, choices.width)
    return _panels(names, runs, choices, shape_of(shape, len(names), choices.width))


def _drawing(name: str, runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    description = FIGURES.get(name).describe(runs, choices)
    return drawing(in_grey(description) if choices.grey else description, width, choices.grey)


def draw(name: str, runs: Sequence[Run], choices: FigureChoices, shape: str | None = None) -> Figure:
    """Return the figure called `name` for `runs`; raises as `plan` does."""
    return on_page(plan(name, runs, choices, shape), choices)


def on_page(planned: Drawing, choices: FigureChoices) -> Figure:
    """Put a drawing on a page of its own."""
    with paper_style(choices.page, choices.font):
        width = choices.width
        figure = Figure(figsize=(width, planned.height), layout="constrained")
        keys = planned.fill(figure)
        figure.set_figheight(planned.height + legend_height(keys, width))
        add_legend(figure, keys, width, planned.below)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", COLLAPSED, UserWarning)
                _settle(figure)
        except UserWarning:
            raise ConfigError(_no_room_words(len({part.bbox.x0 for part in figure.subfigs}), choices)) from None
        return figure


def _no_room_words(across: int, choices: FigureChoices) -> str:
    """Say that the words of a figure leave no room for its axes, and what to choose."""
    wider = ", or --columns 2" if choices.columns == 1 else ""
    if across < 2:
        return f"The axes do not fit into a figure {choices.width:g} inches wide: choose a smaller --text{wider}."
    return (
        f"{across} panels in a row do not fit into a figure {choices.width:g} inches wide: choose fewer columns of "
        f"panels with --panels{wider}."
    )


def _settle(figure: Figure) -> None:
    """Lay a figure out once and for all: laid out again at every save, its places would move in the last digits."""
    # A layout makes room for the tick labels there are, but axes of another size may get other ticks: 82, then 82.5.
    for _ in range(2):
        figure.draw_without_rendering()
    for axis in (axis for area in figure.axes for axis in (area.xaxis, area.yaxis)):
        axis.set_major_locator(FixedLocator(axis.get_majorticklocs().tolist()))
    # So the last layout is one for ticks that stay.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    align(figure)


def align(figure: Figure) -> None:
    """Let panels of a grid that stand in one row, each with one pair of axes, begin and end at the same height."""
    rows: dict[float, list[SubFigure]] = defaultdict(list)
    for part in figure.subfigs:
        if len({area.get_position().bounds for area in part.axes if area.get_visible()}) == 1:
            rows[round(part.bbox.y0, 3)].append(part)
    for parts in rows.values():
        places = [part.axes[0].get_position() for part in parts]
        low, high = max(place.y0 for place in places), min(place.y1 for place in places)
        for part, place in zip(parts, places, strict=True):
            for area in part.axes:
                area.set_position(Bbox.from_extents(place.x0, low, place.x1, high))
                # A place set by hand would take the axes out of the next layout.
                area.set_in_layout(True)


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
        raise ConfigError(f"{quoted(text)} is not a grid of panels: give rows x columns, such as 2x2.")
    rows, columns = int(given[1]), int(given[2])
    if rows * columns < count:
        raise ConfigError(f"{count} figures do not fit into {rows} by {columns} panels: choose a larger shape.")
    return rows, columns


def _panels(names: Sequence[str], runs: Sequence[Run], choices: FigureChoices, shape: Shape) -> Drawing:
    """Plan figures as the panels of one, row by row; raises as each of them does, and ConfigError for too many."""
    if len(names) > MOST_PANELS:
        raise ConfigError(f"{len(names)} figures are too many for one page: choose at most {MOST_PANELS}.")
    rows, columns = shape
    if choices.width / columns < LEAST_WIDTH:
        raise ConfigError(_no_room_words(columns, choices))
    for name in names:
        FIGURES.get(name)
    drawings = [_drawing(name, runs, choices, choices.width / columns) for name in names]
    heights = [
        LETTER + max((each.height for each in drawings[start : start + columns]), default=0.0)
        for start in range(0, rows * columns, columns)
        if start < len(names)
    ]

    def fill(figure: FigureBase) -> Keys:
        parts = figure.subfigures(len(heights), columns, squeeze=False, height_ratios=heights)
        about = zip(parts.flat, LETTERS, drawings, strict=False)
        return merged([_fill(part, letter, drawing) for part, letter, drawing in about])

    named = list(zip(LETTERS, names, drawings, strict=False))
    told = " ".join(f"({letter}) {each.caption}" for letter, _, each in named)
    points = pd.concat(
        [each.points.assign(part=letter, figure=name) for letter, name, each in named], ignore_index=True
    )
    points = points[["part", "figure", *(column for column in points if column not in ("part", "figure"))]]
    return Drawing(points, told, sum(heights), fill)


def _fill(part: SubFigure, letter: str, planned: Drawing) -> Keys:
    part.suptitle(f"({letter})", x=0.01, ha="left", fontweight="bold", fontsize="medium")
    spare = part.bbox.height / part.figure.dpi - LETTER - planned.height
    if spare < STRETCH:
        return planned.fill(part)
    # Beside a much taller panel a lower one keeps its own shape.
    both: Any = part.subfigures(2, 1, height_ratios=(planned.height, spare))
    return planned.fill(both[0])
