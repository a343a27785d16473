"""One panel of the accuracy figure, drawn by matplotlib: the same layers as on the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import ArrayLike

from analysis import marks, palette
from analysis.export.figures.curve_words import name_baselines, name_exits
from analysis.labels import own_styles
from analysis.tables.curves import Score, XAxis, dense_table
from glt.store import MacConvention

# Areas in square points, as matplotlib's scatter takes them.
LARGEST_AREA = 22.0
EVEN_AREA = 13.0
STAR_AREA = 46.0
OPEN_AREA = 26.0
MOST_TICKS = 5
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (4, 1.2, 1, 1.2)))


@dataclass(frozen=True, eq=False)
class Panel:
    """Tables, choices and the y window (percent) of one panel.

    Runs look like their method unless `styles` says otherwise by their names, or a person chose a colour; `sized` lets
    marker area follow MACs, up to `largest` square points, `each_seed` draws every seed faintly. Runs of a `crowd` are
    in shades of their method, without bands and seeds.
    """

    table: pd.DataFrame
    rounds: pd.DataFrame
    x: XAxis
    score: Score
    macs: MacConvention
    printed: Sequence[marks.PaperMark]
    window: marks.Window
    styles: Mapping[str, palette.Style] = field(default_factory=dict)
    sized: bool = True
    each_seed: bool = True
    crowd: Mapping[str, palette.Style] = field(default_factory=dict)
    largest: float = LARGEST_AREA

    def style(self, run: str, method: str) -> palette.Style:
        """Return how a run looks."""
        return self.styles.get(run) or self._own.get(run) or self.crowd.get(run) or palette.style(method)

    @cached_property
    def _own(self) -> Mapping[str, palette.Style]:
        return own_styles(self.table)

    def size(self, macs: ArrayLike) -> np.ndarray:
        """Return marker areas in square points."""
        if not self.sized:
            return np.full(np.shape(macs), EVEN_AREA)
        return self.largest * marks.area_share(macs, float(self.table["macs"].max()))

    def dash(self, run: str) -> Any:
        """Return the line style of a run: solid for the first of a method, others after it; of own style: solid."""
        if run in self.styles:
            return DASHES[0]
        return DASHES[marks.dash_of_run(self.table)[run]]


def draw_panel(area: Axes, panel: Panel) -> None:
    """Draw every layer, set the ranges and the ticks."""
    draw_layers(area, panel)
    draw_printed(area, panel)
    set_axes(area, panel)
    name_baselines(area, panel)
    name_exits(area, panel)


def draw_layers(area: Axes, panel: Panel) -> None:
    """Draw the curves and the dense baselines, without ranges and words."""
    for layer in (*([] if panel.crowd else [_band, _seeds]), _line, _rounds, _tickets):
        for run, curve in panel.table.groupby("run", sort=False):
            layer(area, panel, curve, panel.style(run, curve["method"].iloc[0]).light)
    _dense(area, panel)


def _band(area: Axes, panel: Panel, curve: pd.DataFrame, ink: str) -> None:
    rows = curve.dropna(subset=["low", "high"])
    place = marks.x_values(panel.x, rows["x"])
    area.fill_between(place, 100 * rows["low"], 100 * rows["high"], color=ink, alpha=0.15, linewidth=0)


def _seeds(area: Axes, panel: Panel, curve: pd.DataFrame, ink: str) -> None:
    if not panel.each_seed or curve["seeds"].max() == 1:
        return
    rounds = panel.rounds[panel.rounds["run"] == curve["run"].iloc[0]]
    for _, rows in rounds.groupby("seed"):
        place = marks.x_values(panel.x, rows[marks.x_column(panel.x, panel.macs)])
        area.plot(place, 100 * rows[panel.score], color=ink, alpha=0.3, linewidth=0.35)


def _line(area: Axes, panel: Panel, curve: pd.DataFrame, ink: str) -> None:
    place = marks.x_values(panel.x, curve["x"])
    style = panel.dash(curve["run"].iloc[0])
    area.plot(place, 100 * curve["mean"], color=ink, linewidth=1.1, linestyle=style, zorder=3)


def _rounds(area: Axes, panel: Panel, curve: pd.DataFrame, ink: str) -> None:
    rows = curve[(curve["round"] > 0) & ~curve["is_ticket"]]
    marker = panel.style(curve["run"].iloc[0], curve["method"].iloc[0]).marker
    _points(area, panel, rows, ink, marker, panel.size(rows["macs"]))


def _tickets(area: Axes, panel: Panel, curve: pd.DataFrame, ink: str) -> None:
    rows = curve[curve["is_ticket"]]
    _points(area, panel, rows, ink, palette.TICKET_MARKER, np.full(len(rows), STAR_AREA))


def _points(area: Axes, panel: Panel, rows: pd.DataFrame, ink: str, marker: str, size: np.ndarray) -> None:
    place = marks.x_values(panel.x, rows["x"])
    area.scatter(place, 100 * rows["mean"], s=size, c=ink, marker=marker, edgecolors="white", linewidths=0.4, zorder=4)


def _dense(area: Axes, panel: Panel) -> None:
    rows = panel.table[panel.table["round"] == 0]
    _points(area, panel, rows, palette.color(palette.DENSE), "o", panel.size(rows["macs"]))
    draw_baselines(area, panel)


def draw_baselines(area: Axes, panel: Panel) -> None:
    """Draw the dense means as dashed lines."""
    ink = palette.color(palette.DENSE)
    for line in marks.baselines(dense_table(panel.rounds, panel.score)):
        area.axhline(100 * line.mean, color=ink, linewidth=0.7, linestyle=(0, (5, 3)), zorder=1.5)


def draw_printed(area: Axes, panel: Panel) -> None:
    """Draw the paper's points as open markers."""
    for mark in panel.printed:
        ink = palette.color(mark.point.method)
        marker = palette.TICKET_MARKER if mark.is_ticket else palette.style(mark.point.method).marker
        size = STAR_AREA if mark.is_ticket else OPEN_AREA
        place = marks.x_values(panel.x, mark.x)
        area.scatter(
            place,
            100 * mark.point.score,
            s=size,
            marker=marker,
            facecolors="none",
            edgecolors=ink,
            linewidths=0.8,
            zorder=5,
        )


def set_axes(area: Axes, panel: Panel) -> None:
    """Set the ranges and the ticks; pruning goes right on every axis."""
    area.set_ylim(*panel.window)
    drawn = marks.x_values(panel.x, panel.table["x"])
    if panel.x != "macs":
        area.margins(x=0.04)
        return
    area.set_xscale("log")
    area.set_xlim(1.25 * drawn.max(), 0.8 * drawn.min())
    ticks = marks.log_ticks(drawn.min(), 1.02 * drawn.max())[::-1]
    ticks = ticks[:: 1 + (len(ticks) - 1) // MOST_TICKS]
    area.xaxis.set_major_locator(FixedLocator(ticks))
    area.xaxis.set_minor_locator(NullLocator())
    area.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
