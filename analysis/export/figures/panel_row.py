"""Panels side by side where there is room, under each other where there is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from analysis.export.figures.words import plain
from analysis.export.figures.wrapping import TITLE, wrapped

# Inches: the narrowest panel whose axes can be read.
NARROWEST = 2.6
# Inches: what the numbers of the y axis take beside a title.
BESIDE = 0.5
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class PanelRow:
    """`count` panels of a figure `width` inches wide, each `ratio` times as high as wide, or as `tall` (inches)."""

    count: int
    width: float
    ratio: float = 0.78
    tall: float | None = None
    narrowest: float = NARROWEST

    @property
    def across(self) -> int:
        """How many stand in a row, the rows filled evenly."""
        fitting = min(self.count, max(1, int(self.width / self.narrowest)))
        return math.ceil(self.count / math.ceil(self.count / fitting))

    @property
    def down(self) -> int:
        """How many rows there are."""
        return math.ceil(self.count / self.across)

    @property
    def height(self) -> float:
        """Inches of all rows; a panel alone on a wide page is flat."""
        wide = self.width / self.across
        one = self.tall if self.tall is not None else wide * (min(self.ratio, 0.5) if wide > 4.5 else self.ratio)
        return self.down * one

    def areas(self, figure: FigureBase, sharey: bool = False) -> list[Axes]:
        """Add the axes to a figure; those left over are hidden."""
        areas: list[Axes] = list(figure.subplots(self.down, self.across, squeeze=False, sharey=sharey).flat)
        for left_over in areas[self.count :]:
            left_over.set_visible(False)
        return areas[: self.count]

    def is_first(self, place: int) -> bool:
        """Say whether a panel begins a row, and so names the vertical axis."""
        return place % self.across == 0


def name_panels(areas: Sequence[Axes], titles: Sequence[str]) -> None:
    """Write (a), (b), ... and a title over each panel; a lone one needs none."""
    if len(areas) > 1:
        for letter, area, title in zip(LETTERS, areas, titles, strict=False):
            words = wrapped(f"({letter}) {plain(title)}".strip(), _room(area), TITLE)
            area.set_title(words, loc="left", fontweight="bold" if not title else None)


def _room(area: Axes) -> float:
    """Return the inches that a title over axes of a grid has, its tick labels beside it."""
    spec, figure = area.get_subplotspec(), area.figure
    columns = spec.get_gridspec().ncols if spec else 1
    return float(figure.bbox.width / figure.dpi / columns) - BESIDE
