"""What a figure shows, independent of the library that draws it: panels of layers, axes, labels and legend keys.

Lengths are pixels of the screen; paper draws marks and lines smaller in a fixed proportion. Coordinates are in units of
the axes (percent, millions of MACs). Text is plain: each renderer escapes what it would read as markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
from numpy.typing import ArrayLike

from analysis.palette import Style

Audience = Literal["both", "screen", "paper"]
Dash = Literal["solid", "dash", "dot", "dashdot", "short"]
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")
# A style's colour, one of the theme's neutral colours ("text", "muted", "axis"), or a hex colour.
Ink = Style | str
# Diameters of marks: of the most MACs, of a plain mark, of a ticket at least and at most, of a printed point.
LARGEST, EVEN, LEAST_STAR, STAR = 14.0, 10.0, 14.0, 18.9


@dataclass(frozen=True, eq=False, kw_only=True)
class Layer:
    """Something drawn at data coordinates; `group` is the run that a click on its legend key hides or shows.

    `hover` has one text a point, in Plotly's HTML, escaped. `keys` name what a click on a point selects. A layer on the
    `right` is measured by the second vertical axis.
    """

    ink: Ink = "muted"
    name: str = ""
    group: str = ""
    on: Audience = "both"
    opacity: float = 1.0
    hover: Sequence[str] = ()
    keys: Any = None
    right: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Line(Layer):
    """A curve through points [n], broken at NaN; a `step` changes before ("vh") or at ("hv") the next point."""

    x: ArrayLike
    y: ArrayLike
    dash: Dash = "solid"
    width: float = 2.2
    step: Literal["", "hv", "vh"] = ""
    shape: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Band(Layer):
    """The area between two curves [n]; nothing where either is NaN."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike


@dataclass(frozen=True, eq=False, kw_only=True)
class Marks(Layer):
    """Points [n] of one shape (Plotly's name); `size` and `opacity` may differ by point, `filled` says which are full.

    Open ones have a rim of `rim` pixels.
    """

    x: ArrayLike
    y: ArrayLike
    shape: str = "circle"
    size: Any = EVEN
    opacity: Any = 1.0
    filled: Any = True
    rim: float = 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranges(Layer):
    """A stroke from `low` to `high` at each place [n], upwards or `across`; with caps where `capped`."""

    at: ArrayLike
    low: ArrayLike
    high: ArrayLike
    across: bool = False
    capped: bool = False
    width: float = 1.2


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments(Layer):
    """Straight lines between pairs of points [n, 2, 2]: segment, end, coordinate."""

    ends: ArrayLike
    width: float = 1.0
    dash: Dash = "solid"


@dataclass(frozen=True, eq=False, kw_only=True)
class Field(Layer):
    """A matrix of coloured cells: `values` [rows, columns] between `limits`, NaN empty.

    `colors` are those of the lowest, middle and highest value on light, dark and grey ground. `words` are written into
    the cells, on paper `short_words`. `details` go into the hover text, whose HTML is `template`.
    """

    values: ArrayLike
    limits: tuple[float, float]
    colors: tuple[Sequence[str], Sequence[str], Sequence[str]]
    title: str
    short_title: str = ""
    words: Any = None
    short_words: Any = None
    details: Any = None
    template: str = ""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis: how values are placed and written.

    - `title`: the title; `short`: the title on paper, "" for the same.
    - `limits`: first and last value; None for those of the data.
    - `ticks`: values of the ticks; None for automatic ones. `tick_words` are written instead of their numbers.
    - `unit`: text after each tick on the screen, where the title leaves it out.
    - `categories`: names of the values 0, 1, ...
    - `every`: on paper one of so many categories or ticks has a label.
    - `whole`: values are whole numbers, and up to this one each has a tick.
    - `from_zero`: the axis starts at 0.
    - `margin`: room beside the data on paper, as a share of its span.
    - `flipped`: large values come first.
    - `named`: ticks have labels.
    - `empty`: the axis has a title and nothing else.
    """

    title: str = ""
    short: str = ""
    limits: tuple[float, float] | None = None
    log: bool = False
    ticks: Sequence[float] | None = None
    tick_words: Sequence[str] = ()
    unit: str = ""
    categories: Sequence[str] = ()
    every: int = 1
    whole: int = 0
    grid: bool = False
    from_zero: bool = False
    margin: float | None = None
    flipped: bool = False
    named: bool = True
    empty: bool = False


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A straight line through a panel, at a value of y or, if `vertical`, of x.

    It is labelled "name (owner) value". A vertical one may end at `top`, in units of y.
    """

    at: float
    ink: Ink = "axis"
    name: str = ""
    owner: str = ""
    value: str = ""
    dash: Dash = "dash"
    width: float = 1.4
    opacity: float = 1.0
    vertical: bool = False
    top: float | None = None
    on: Audience = "both"


@dataclass(frozen=True, kw_only=True)
class Note:
    """Words at the foot of a panel beside the place `x`, kept from touching each other; `short` on paper.

    They stand right of their place where `right`, else left of it, unless they would leave the panel.
    """

    x: float
    text: str
    short: str = ""
    ink: Ink = "text"
    right: bool = False
    on: Audience = "both"


@dataclass(frozen=True, kw_only=True)
class Label:
    """Words at the upper or lower edge of a panel; of a `mark` (x, y) centred above it with a line to it."""

    text: str
    ink: Ink = "text"
    mark: tuple[float, float] | None = None
    top: bool = True


@dataclass(frozen=True, kw_only=True)
class Key:
    """An entry of the legend: a line, a mark or both, for a run or for what marks mean."""

    label: str
    short: str = ""
    ink: Ink = "muted"
    dash: Dash | Literal[""] = ""
    width: float = 2.2
    shape: str = ""
    size: float = 9.0
    filled: bool = True
    opacity: float = 1.0
    group: str = ""
    about: Literal["runs", "marks"] = "runs"
    on: Audience = "both"


@dataclass(frozen=True, kw_only=True)
class Inset:
    """A part of a panel enlarged: its limits, and its place (left, low, width, height, as shares of the panel)."""

    x: tuple[float, float]
    y: tuple[float, float]
    place: tuple[float, float, float, float]
    layers: Sequence[Layer] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes with what stands in it; `keys` are a legend of its own above it.

    `beside` says that labels of rules stand in the right margin of the screen, where there is room for one panel.
    """

    x: Axis
    y: Axis
    layers: Sequence[Layer]
    rules: Sequence[Rule] = ()
    notes: Sequence[Note] = ()
    labels: Sequence[Label] = ()
    keys: Sequence[Key] = ()
    inset: Inset | None = None
    right: Axis | None = None
    title: str = ""
    beside: bool = False
    square: bool = False


@dataclass(frozen=True, kw_only=True)
class Grid:
    """How panels are arranged. Lengths are inches on paper.

    - `narrowest`: least width of a panel, which limits the number in a row on paper.
    - `across`: panels in a row on the screen and on a page wider than one column; None for one row on the screen, and
      for as many as fit on paper.
    - `ratio`: height of a panel divided by its width.
    - `flat`: whether `ratio` is limited for a panel wider than one column.
    - `more`: height added for every row; `foot`: height added once.
    - `heights`: heights of panels below each other.
    - `same_y`: whether panels share the limits of the vertical axis.
    - `each_named`: whether each panel has a title at its vertical axis, or only the first of a row.
    """

    narrowest: float = 2.6
    across: int | None = None
    ratio: float = 0.78
    flat: bool = True
    more: float = 0.0
    foot: float = 0.0
    heights: Sequence[float] = ()
    same_y: bool = False
    each_named: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Description:
    """A figure: its panels, legend, `caption`, and the numbers that are drawn (`points`); `height` is the screen's.

    `lettered` names panels (a), (b), ... also where they have no titles. `below` puts the legend under the panels.
    """

    panels: Sequence[Panel]
    keys: Sequence[Key] = ()
    points: pd.DataFrame = field(default_factory=pd.DataFrame)
    caption: str = ""
    grid: Grid = Grid()
    height: int = 460
    lettered: bool = True
    below: bool = False
