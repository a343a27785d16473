"""Curves that leave the drawn window at its foot, and where they go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.crowd import crowd_styles
from analysis.marks.axes import Window, x_values
from analysis.tables.curve import XAxis


class Exit(NamedTuple):
    """Where (x as drawn) a run's mean crosses the foot of the window, and its lowest score (fraction) beyond.

    For several `runs` of a crowd: the first of them, and the lowest score of all.
    """

    run: str
    method: str
    x: float
    lowest: float
    runs: int = 1


def exits(table: pd.DataFrame, x: XAxis, shown: Window) -> list[Exit]:
    """Return one exit for every run of a `curve_table` whose mean falls below the window, and one for a whole crowd."""
    crowd = crowd_styles(table)
    found = _single_exits(table, x, shown)
    alone = [gone for gone in found if gone.run not in crowd]
    methods = dict.fromkeys(gone.method for gone in found if gone.run in crowd)
    together = [[gone for gone in found if gone.run in crowd and gone.method == method] for method in methods]
    return [*alone, *(_first(each, x) for each in together)]


def _first(crowd: list[Exit], x: XAxis) -> Exit:
    nearest = (max if x == "macs" else min)(crowd, key=lambda gone: gone.x)
    return nearest._replace(lowest=min(gone.lowest for gone in crowd), runs=len(crowd))


def _single_exits(table: pd.DataFrame, x: XAxis, shown: Window) -> list[Exit]:
    found = []
    for run, curve in table.groupby("run", sort=False):
        mean = 100 * curve["mean"].to_numpy()
        below = np.flatnonzero(mean < shown.low)
        if below.size:
            place = _crossing(x_values(x, curve["x"]), mean, int(below[0]), shown.low, x == "macs")
            found.append(Exit(str(run), curve["method"].iloc[0], place, float(mean.min()) / 100))
    return found


def _crossing(x: np.ndarray, y: np.ndarray, index: int, level: float, log: bool) -> float:
    if index == 0:
        return float(x[0])
    share = (y[index - 1] - level) / (y[index - 1] - y[index])
    ends = np.log(x[index - 1 : index + 1]) if log else x[index - 1 : index + 1]
    place = ends[0] + share * (ends[1] - ends[0])
    return float(np.exp(place) if log else place)
