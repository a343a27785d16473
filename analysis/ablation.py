"""Ablations: runs that vary one setting alone, and the axes of their panels.

`ablation_panels` finds one panel a setting; `panel_axes` gives its ranges and an inset that enlarges close curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import palette
from analysis.figures.curves import Window, score_window, x_values
from analysis.labels import setting_words, settings_of, value_order
from analysis.palette import Style
from analysis.runs import runs_with_rounds
from analysis.tables.curves import XAxis
from glt.config import RunConfig
from glt.errors import ConfigError
from glt.formats import as_typed
from glt.store import Run, finished_rounds

SHARED = ("dataset", "task", "model", "method")
MOST_PANELS = 4


@dataclass(frozen=True, eq=False)
class Varied:
    """One panel: the setting that varies, its runs by value, their labels, and settings that only other panels vary."""

    field: str
    runs: tuple[Run, ...]
    labels: Mapping[str, str]
    fixed: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The fixed settings in words, "" where no other setting varies."""
        return ", ".join(setting_words(name, value) for name, value in self.fixed.items())

    def styles(self) -> dict[str, Style]:
        """Return how each run looks, by name."""
        return dict(zip(self.labels, palette.steps(len(self.runs)), strict=True))


def ablation_panels(runs: Sequence[Run]) -> list[Varied]:
    """Return one panel for every setting that differs among runs with a finished round, in the config's order.

    A panel takes the largest group of runs that differ in its setting alone; of equally large groups, the one with
    more default settings. Raises StoreError without finished rounds, ConfigError when no setting differs, too many do,
    or one never varies alone.
    """
    begun = runs_with_rounds(runs)
    settings = {run.reference: settings_of(run.config) for run in begun}
    names = dict.fromkeys(name for of_run in settings.values() for name in of_run)
    fields = [name for name in names if len({repr(of_run.get(name)) for of_run in settings.values()}) > 1]
    _check(fields)
    return [_panel(field, fields, begun, settings) for field in fields]


def left_out(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that are in no panel, because they differ in further settings."""
    shown = {run.reference for panel in ablation_panels(runs) for run in panel.runs}
    return [run for run in runs if run.reference not in shown and finished_rounds(run)]


def one_sweep(runs: Sequence[Run]) -> list[Run]:
    """Return the largest group of runs around one run, each different from it in at most one setting."""
    settings = {run.reference: settings_of(run.config) for run in runs}
    groups = [
        [other for other in runs if _distance(settings[run.reference], settings[other.reference]) < 2] for run in runs
    ]
    return max(groups, key=len, default=[])


def panel_rounds(rounds: pd.DataFrame, panel: Varied) -> pd.DataFrame:
    """Return the rows of a `rounds_table` that belong to a panel, its runs in order and labelled by their values."""
    order = {run: place for place, run in enumerate(panel.labels)}
    rows = rounds[rounds["run"].isin(order)]
    rows = rows.assign(label=rows["run"].map(panel.labels))
    return rows.sort_values("run", key=lambda names: names.map(order), kind="stable").reset_index(drop=True)


def _distance(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """Count the settings in which two runs differ; a difference in SHARED counts more than all others."""
    if any(one[name] != other[name] for name in SHARED):
        return len(one) + 1
    return sum(one.get(name) != other.get(name) for name in one.keys() | other.keys())


def _check(fields: Sequence[str]) -> None:
    apart = [name for name in fields if name in SHARED]
    if apart:
        raise ConfigError(
            f"An ablation is about one data set, task, model and method, but these runs differ in {apart[0]}: "
            "choose runs of one sweep."
        )
    if not fields:
        raise ConfigError(
            f"An ablation needs runs that differ in a setting: choose at least two of one sweep ({as_typed('sweep')})."
        )
    if len(fields) > MOST_PANELS:
        raise ConfigError(
            f"These runs differ in {len(fields)} settings ({', '.join(fields)}), but the figure has room for "
            f"{MOST_PANELS} panels: choose fewer runs."
        )


def _panel(field: str, fields: Sequence[str], runs: Sequence[Run], settings: Mapping[str, Mapping[str, Any]]) -> Varied:
    others = [name for name in fields if name != field]
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(repr(settings[run.reference].get(name)) for name in others), []).append(run)

    def usual(members: list[Run]) -> int:
        fields, own = RunConfig.model_fields, settings[members[0].reference]
        return sum(name in fields and own.get(name) == fields[name].default for name in others)

    group = max(groups.values(), key=lambda members: (len(members), usual(members)))
    if len(group) < 2:
        raise ConfigError(f"No two of these runs differ in {field} alone: add the missing runs of a full grid.")
    first = settings[group[0].reference]
    ordered = sorted(group, key=lambda run: value_order(settings[run.reference].get(field)))
    labels = {run.reference: setting_words(field, settings[run.reference].get(field)) for run in ordered}
    return Varied(field, tuple(ordered), labels, {name: first.get(name) for name in others})


# The box that an inset enlarges: where the curves are closest

FloatArray = NDArray[np.float64]

# The box covers WIDTH of the range that all curves cover, and at least WIDEST of the axis. There is no box where the
# range is below NARROWEST of the axis, or the box higher than HIGHEST of the window.
WIDTH, WIDEST, NARROWEST, HIGHEST = 0.35, 0.15, 0.06, 0.5
STEPS = 240
PAD = 0.2
LEAST_HEIGHT = 0.5


class Box(NamedTuple):
    """A part of the axes as drawn (percent, millions of MACs); `left` is the dense end."""

    left: float
    right: float
    low: float
    high: float


def zoom_box(table: pd.DataFrame, x: XAxis, shown: Window) -> Box | None:
    """Return where the means of a `curve_table` are closest after round 0, None where no box is worth enlarging.

    Curves are interpolated linearly between rounds; all of them must be inside the window `shown`.
    """
    lines = [_line(curve, x) for _, curve in table[table["round"] > 0].groupby("run", sort=False)]
    lines = [line for line in lines if len(line[0])]
    if len(lines) < 2:
        return None
    left, right = max(place[0] for place, _ in lines), min(place[-1] for place, _ in lines)
    axis = float(np.ptp(scaled(x, x_values(x, table["x"]))))
    if right - left <= NARROWEST * axis:
        return None
    steps = round(STEPS * min(max(WIDTH, WIDEST * axis / (right - left)), 1.0))
    stretch = np.linspace(left, right, STEPS + 1)
    heights = np.stack([np.interp(stretch, *line) for line in lines])
    start = _closest(heights, steps, shown.low)
    if start is None:
        return None
    end = start + steps
    boxed = heights[:, start : end + 1]
    low, high = float(boxed.min()), float(boxed.max())
    pad = max(PAD * (high - low), (LEAST_HEIGHT - (high - low)) / 2)
    low, high = low - pad, high + pad
    if high - low > HIGHEST * (shown.high - shown.low):
        return None
    ends = unscaled(x, stretch[[end, start] if x == "macs" else [start, end]])
    return Box(float(ends[0]), float(ends[1]), low, high)


def scaled(x: XAxis, drawn: FloatArray) -> FloatArray:
    """Return positions along the axis of x values as drawn: their logarithm for MACs."""
    return np.log10(drawn) if x == "macs" else drawn


def unscaled(x: XAxis, places: FloatArray) -> FloatArray:
    """Return x values as drawn at positions along the axis."""
    return np.asarray(10.0**places) if x == "macs" else places


def _line(curve: pd.DataFrame, x: XAxis) -> tuple[FloatArray, FloatArray]:
    place = scaled(x, x_values(x, curve["x"]))
    order = np.argsort(place, kind="stable")
    return place[order], 100 * curve["mean"].to_numpy(dtype=np.float64)[order]


def _closest(heights: FloatArray, steps: int, foot: float) -> int | None:
    """Return the first step of the box with the smallest mean spread between highest and lowest curve."""
    spread = np.ptp(heights, axis=0)
    spread[heights.min(axis=0) < foot] = np.inf
    sums = np.lib.stride_tricks.sliding_window_view(spread, steps + 1).sum(axis=1)
    best = int(np.argmin(sums))
    return best if np.isfinite(sums[best]) else None


# The axes of a panel, and a free corner for the inset

# Shares of the axes: the inset, and the room for its numbers at its left and below it.
INSET = (0.46, 0.32)
NUMBERS = (0.09, 0.09)
EDGE = 0.02
MARGIN = 0.04
# How far a window without a free corner is extended down, as a share of its height, and points checked per curve.
ROOM = 0.75
SAMPLES = 400
LEAST_SEEN = 0.5


class Corner(NamedTuple):
    """The inset: its left and lower edge, width and height, as shares of the axes."""

    left: float
    low: float
    width: float
    height: float


class PanelAxes(NamedTuple):
    """The axes of a panel: x from `first` (dense) to `last` as drawn, the window of y, the box and its inset."""

    first: float
    last: float
    window: Window
    box: Box | None
    corner: Corner | None


def panel_axes(table: pd.DataFrame, x: XAxis, near: bool = True) -> PanelAxes:
    """Return the ranges for a `curve_table`; where no corner is free, the window is extended down.

    The near view is taken only where it shows at least half of the rounds.
    """
    window = score_window(table, near=near)
    if (100 * table["mean"] >= window.low).mean() < LEAST_SEEN:
        window = score_window(table, near=False)
    first, last = _ends(table, x)
    box = zoom_box(table, x, window)
    if box is None:
        return PanelAxes(first, last, window, None, None)
    corner, hidden = _freest(table, x, (first, last), window, box)
    if hidden:
        low = max(window.low - ROOM * (window.high - window.low), min(0.0, window.low))
        window = Window(low, window.high)
        corner, _ = _freest(table, x, (first, last), window, box)
    return PanelAxes(first, last, window, box, corner)


def _ends(table: pd.DataFrame, x: XAxis) -> tuple[float, float]:
    places = scaled(x, x_values(x, table["x"]))
    low, high = float(places.min()), float(places.max())
    pad = MARGIN * (high - low) or 1.0
    ends = (high + pad, low - pad) if x == "macs" else (low - pad, high + pad)
    drawn = unscaled(x, np.asarray(ends))
    return float(drawn[0]), float(drawn[1])


def _freest(table: pd.DataFrame, x: XAxis, ends: tuple[float, float], window: Window, box: Box) -> tuple[Corner, int]:
    """Return the corner that hides the fewest points, lower left first, and their number."""
    across, up = _taken(table, x, ends, window, box).T
    width, height = INSET
    lefts = (EDGE + NUMBERS[0], 1 - EDGE - width)
    lows = (EDGE + NUMBERS[1], 1 - EDGE - height)
    corners = [Corner(left, low, width, height) for low in lows for left in lefts]
    hidden = []
    for corner in corners:
        beside = (across > corner.left - NUMBERS[0]) & (across < corner.left + width + EDGE)
        within = (up > corner.low - NUMBERS[1]) & (up < corner.low + height + EDGE)
        hidden.append(int((beside & within).sum()))
    best = int(np.argmin(hidden))
    return corners[best], hidden[best]


def _taken(table: pd.DataFrame, x: XAxis, ends: tuple[float, float], window: Window, box: Box) -> NDArray[np.float64]:
    """Return points of all curves, the dense line and the box's edges, as shares of the axes, [points, 2]."""
    first, last = scaled(x, np.asarray(ends))
    lines = []
    for _, curve in table.groupby("run", sort=False):
        places = scaled(x, x_values(x, curve["x"]))
        order = np.argsort(places)
        along = np.linspace(places.min(), places.max(), SAMPLES)
        lines.append(np.stack([along, np.interp(along, places[order], 100 * curve["mean"].to_numpy()[order])]))
    across = np.linspace(first, last, SAMPLES)
    lines += [np.stack([across, np.full(SAMPLES, 100 * dense)]) for dense in table["dense"].dropna().unique()]
    left, right = scaled(x, np.asarray([box.left, box.right]))
    edge = np.linspace(left, right, SAMPLES)
    lines += [np.stack([edge, np.full(SAMPLES, level)]) for level in (box.low, box.high)]
    points = np.concatenate(lines, axis=1)
    return np.stack(
        [(points[0] - first) / (last - first), (points[1] - window.low) / (window.high - window.low)], axis=1
    )
