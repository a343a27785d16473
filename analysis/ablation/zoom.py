"""The stretch in which curves lie closest, worth a picture of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.figures.window import Window, x_values
from analysis.tables.curves import XAxis

FloatArray = NDArray[np.float64]

# The box is this share of the stretch that all curves cover, and of the axis at least the second share; less than the
# third is too little to look into, and a higher box than the last share is not worth enlarging.
WIDTH, WIDEST, NARROWEST, HIGHEST = 0.35, 0.15, 0.06, 0.5
STEPS = 240
PAD = 0.2
LEAST_HEIGHT = 0.5


class Box(NamedTuple):
    """A part of the axes as drawn (percent, millions of MACs); `left` is the dense end, so MACs fall to `right`."""

    left: float
    right: float
    low: float
    high: float


def zoom_box(table: pd.DataFrame, x: XAxis, shown: Window) -> Box | None:
    """Return where the means of a `curve_table` lie closest after round 0, None where nothing would be enlarged.

    Curves are compared between their rounds by straight lines; a stretch in which one has left the window is no
    candidate.
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
    low, high = _padded(heights[:, start : end + 1])
    if high - low > HIGHEST * (shown.high - shown.low):
        return None
    ends = unscaled(x, stretch[[end, start] if x == "macs" else [start, end]])
    return Box(float(ends[0]), float(ends[1]), low, high)


def scaled(x: XAxis, drawn: FloatArray) -> FloatArray:
    """Return places along the axis for x values as drawn: their logarithm for MACs."""
    return np.log10(drawn) if x == "macs" else drawn


def unscaled(x: XAxis, places: FloatArray) -> FloatArray:
    """Return x values as drawn for places along the axis."""
    return np.asarray(10.0**places) if x == "macs" else places


def _line(curve: pd.DataFrame, x: XAxis) -> tuple[FloatArray, FloatArray]:
    place = scaled(x, x_values(x, curve["x"]))
    order = np.argsort(place, kind="stable")
    return place[order], 100 * curve["mean"].to_numpy(dtype=np.float64)[order]


def _closest(heights: FloatArray, steps: int, foot: float) -> int | None:
    """Return the first step of the stretch with the smallest mean distance between the highest and the lowest curve."""
    spread = np.ptp(heights, axis=0)
    spread[heights.min(axis=0) < foot] = np.inf
    sums = np.lib.stride_tricks.sliding_window_view(spread, steps + 1).sum(axis=1)
    best = int(np.argmin(sums))
    return best if np.isfinite(sums[best]) else None


def _padded(heights: FloatArray) -> tuple[float, float]:
    low, high = float(heights.min()), float(heights.max())
    pad = max(PAD * (high - low), (LEAST_HEIGHT - (high - low)) / 2)
    return low - pad, high + pad
