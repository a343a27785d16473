"""Ranges of a panel's axes, and the corner in which a picture of a part of it hides no curve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.ablation.zoom import Box, scaled, unscaled, zoom_box
from analysis.figures.window import Window, score_window, x_values
from analysis.tables.curves import XAxis

# Shares of the axes: the inset, and what its numbers take at its left and under it.
INSET = (0.46, 0.32)
NUMBERS = (0.09, 0.09)
EDGE = 0.02
MARGIN = 0.04
# How far a window without a free corner is let down, as a share of its height, and how densely curves are looked at.
ROOM = 0.75
SAMPLES = 400
LEAST_SEEN = 0.5


class Corner(NamedTuple):
    """Where the inset stands: its left and lower edge, width and height, as shares of the axes."""

    left: float
    low: float
    width: float
    height: float


class PanelAxes(NamedTuple):
    """What a panel shows: x from `first` (dense) to `last` as drawn, the window of y, the box and its inset."""

    first: float
    last: float
    window: Window
    box: Box | None
    corner: Corner | None


def panel_axes(table: pd.DataFrame, x: XAxis, near: bool = True) -> PanelAxes:
    """Return the ranges for a `curve_table`; where no corner is free, the window is let down to make room."""
    window = _window(table, near)
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


def _window(table: pd.DataFrame, near: bool) -> Window:
    """Return the y range; the near view is given up where it would show less than half of the rounds."""
    window = score_window(table, near=near)
    seen = (100 * table["mean"] >= window.low).mean()
    return window if seen >= LEAST_SEEN else score_window(table, near=False)


def _ends(table: pd.DataFrame, x: XAxis) -> tuple[float, float]:
    """Return the x range as drawn, from the dense end; MACs fall from left to right."""
    places = scaled(x, x_values(x, table["x"]))
    low, high = float(places.min()), float(places.max())
    pad = MARGIN * (high - low) or 1.0
    ends = (high + pad, low - pad) if x == "macs" else (low - pad, high + pad)
    drawn = unscaled(x, np.asarray(ends))
    return float(drawn[0]), float(drawn[1])


def _freest(table: pd.DataFrame, x: XAxis, ends: tuple[float, float], window: Window, box: Box) -> tuple[Corner, int]:
    """Return the corner that hides the fewest places of curves and box, the lower left one first, and how many."""
    taken = _taken(table, x, ends, window, box)
    width, height = INSET
    lefts = (EDGE + NUMBERS[0], 1 - EDGE - width)
    lows = (EDGE + NUMBERS[1], 1 - EDGE - height)
    corners = [Corner(left, low, width, height) for low in lows for left in lefts]
    hidden = [_hidden(taken, corner) for corner in corners]
    best = int(np.argmin(hidden))
    return corners[best], hidden[best]


def _taken(table: pd.DataFrame, x: XAxis, ends: tuple[float, float], window: Window, box: Box) -> NDArray[np.float64]:
    """Return places of all curves, the dense line and the box's edge as shares of the axes, [points, 2]."""
    first, last = scaled(x, np.asarray(ends))
    found = []
    for _, curve in table.groupby("run", sort=False):
        places = scaled(x, x_values(x, curve["x"]))
        order = np.argsort(places)
        along = np.linspace(places.min(), places.max(), SAMPLES)
        found.append(np.stack([along, np.interp(along, places[order], 100 * curve["mean"].to_numpy()[order])]))
    across = np.linspace(first, last, SAMPLES)
    found += [np.stack([across, np.full(SAMPLES, 100 * dense)]) for dense in table["dense"].dropna().unique()]
    left, right = scaled(x, np.asarray([box.left, box.right]))
    edge = np.linspace(left, right, SAMPLES)
    found += [np.stack([edge, np.full(SAMPLES, level)]) for level in (box.low, box.high)]
    points = np.concatenate(found, axis=1)
    return np.stack(
        [(points[0] - first) / (last - first), (points[1] - window.low) / (window.high - window.low)], axis=1
    )


def _hidden(taken: NDArray[np.float64], corner: Corner) -> int:
    across, up = taken.T
    beside = (across > corner.left - NUMBERS[0]) & (across < corner.left + corner.width + EDGE)
    within = (up > corner.low - NUMBERS[1]) & (up < corner.low + corner.height + EDGE)
    return int((beside & within).sum())
