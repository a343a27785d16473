"""Curves that leave the drawn window at its foot, and where they go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.crowd import crowd_styles
from analysis.marks.axes import Window, x_column, x_values
from analysis.tables.curves import Score, XAxis
from glt import formats
from glt.store import MacConvention


class Exit(NamedTuple):
    """Where (x as drawn) a run's mean crosses the foot of the window, and its lowest score (fraction) beyond.

    For several `runs` of a crowd, or several `seeds` of a run whose mean stays: the first of them, and the lowest score
    of all.
    """

    run: str
    method: str
    x: float
    lowest: float
    runs: int = 1
    seeds: int = 0

    def words(self) -> str:
        """Say what falls how deep.

        >>> Exit("run", "ugs", 0.5, 0.265).words(), Exit("run", "ugs", 0.5, 0.265, seeds=2).words()
        ('falls to 26.5 %', '2 seeds fall, one to 26.5 %')
        """
        lowest = formats.percent(self.lowest)
        who = formats.number_of(self.seeds, "seed") if self.seeds else str(self.runs)
        if max(self.seeds, self.runs) > 1:
            return f"{who} fall, one to {lowest}"
        return f"{who} falls to {lowest}" if self.seeds else f"falls to {lowest}"


def exits(table: pd.DataFrame, x: XAxis, shown: Window) -> list[Exit]:
    """Return one exit for every run of a `curve_table` whose mean falls below the window, and one for a whole crowd."""
    crowd = crowd_styles(table)
    found = _single_exits(table, x, shown)
    alone = [gone for gone in found if gone.run not in crowd]
    methods = dict.fromkeys(gone.method for gone in found if gone.run in crowd)
    together = [[gone for gone in found if gone.run in crowd and gone.method == method] for method in methods]
    return [*alone, *(_first(each, x) for each in together)]


def seed_exits(
    table: pd.DataFrame, rounds: pd.DataFrame, x: XAxis, score: Score, macs: MacConvention, shown: Window
) -> list[Exit]:
    """Return one exit for every run of a `curve_table` whose mean stays in the window while seeds of it fall below."""
    fallen = {gone.run for gone in _single_exits(table, x, shown)}
    staying = rounds[rounds["run"].isin(set(table["run"]) - fallen)]
    drawn = pd.DataFrame(
        {**staying[["run", "method", "seed"]], "x": staying[x_column(x, macs)], "mean": staying[score]}
    )
    found = []
    for _, seeds in drawn.groupby("run", sort=False):
        leaving = [gone for _, seed in seeds.groupby("seed") for gone in _single_exits(seed, x, shown)]
        if leaving:
            found.append(_first(leaving, x)._replace(runs=1, seeds=len(leaving)))
    return found


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
