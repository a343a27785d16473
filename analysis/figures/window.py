"""The axes of a curve: titles, units, the stretch of scores that is shown, and where curves leave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.drawing.description import Axis
from analysis.drawing.labels import log_ticks
from analysis.style.palette import crowd_styles
from analysis.tables.captions import check_shared_data, shared_metric
from analysis.tables.curves import Score, XAxis
from glt import formats
from glt.store import MacConvention

FloatArray = NDArray[np.float64]

MAC_NAMES: dict[MacConvention, str] = {
    "dense_features": "dense features",
    "sparse_features": "sparse features",
    "published": "as published",
}
SHORT_TITLES: dict[XAxis, str] = {
    "graph": "Graph sparsity (%)",
    "weight": "Weight sparsity (%)",
    "macs": "Inference MACs (M, log scale)",
}
# A method that collapses would flatten all that matters, so the near view ends this far (fraction) under dense.
NEAR = 0.20
# An interval over two seeds is twelve times their spread: beyond this far (fraction) from all means it is cut off.
INTERVALS = 0.05
MOST_TICKS = 5


class Window(NamedTuple):
    """The stretch of the y axis that is shown, in percent."""

    low: float
    high: float


def x_column(x: XAxis, macs: MacConvention) -> str:
    """Return the column of `rounds_table` on the x axis."""
    return {"graph": "graph_sparsity", "weight": "weight_sparsity", "macs": f"macs_{macs}"}[x]


def x_values(x: XAxis, values: ArrayLike) -> FloatArray:
    """Return x as drawn: percent for sparsities, millions for MACs."""
    return np.asarray(values, dtype=np.float64) * (1e-6 if x == "macs" else 100.0)


def x_title(x: XAxis, macs: MacConvention) -> str:
    """Return the title of the x axis with its unit."""
    if x == "macs":
        return f"Inference MACs ({MAC_NAMES[macs]}, log scale)"
    return "Graph sparsity (% of edge entries removed)" if x == "graph" else "Weight sparsity (% of weights removed)"


def x_axis(table: pd.DataFrame, x: XAxis, macs: MacConvention, also: Sequence[float] = ()) -> Axis:
    """Return the x axis of a `curve_table`, with room for values that are `also` drawn; pruning goes right."""
    title, short = x_title(x, macs), SHORT_TITLES[x]
    if x != "macs" or table.empty:
        return Axis(title=title, short=short, margin=0.04)
    drawn = np.concatenate([x_values(x, table["x"]), np.asarray(also, dtype=np.float64)])
    low, high = float(drawn.min()), float(drawn.max())
    ticks = log_ticks(low, 1.02 * high)[::-1]
    marked: dict[str, Any] = {"ticks": ticks, "every": 1 + (len(ticks) - 1) // MOST_TICKS, "unit": "M"}
    return Axis(title=title, short=short, limits=(1.25 * high, 0.8 * low), log=True, **marked)


def score_title(table: pd.DataFrame, score: Score) -> str:
    """Return the title of the y axis; raises ConfigError for several metrics, or different data of one name."""
    check_shared_data(table, "One figure")
    return f"Test {shared_metric(table)}{', last epoch' if score == 'test_last' else ''} (%)"


def score_window(table: pd.DataFrame, extra: Sequence[float] = (), near: bool = True) -> Window:
    """Return the y range of a `curve_table`, wide enough for its means and for `extra` scores (fractions).

    Intervals widen it by INTERVALS at most. `near` ends it NEAR below the lowest dense mean.
    """
    means = _finite(table["mean"], table["dense"], extra)
    if not means.size:
        return Window(0.0, 100.0)
    ends = _finite(table["low"], table["high"]).clip(means.min() - INTERVALS, means.max() + INTERVALS)
    shown = np.concatenate([means, ends])
    low, high = max(shown.min(), 0.0), min(shown.max(), 1.0)
    dense = table["dense"].min()
    if near and dense - NEAR > low:
        low = dense - NEAR
    pad = 0.05 * max(high - low, 0.01)
    return Window(100 * (low - pad), 100 * (high + pad))


def _finite(*columns: ArrayLike) -> FloatArray:
    values: FloatArray = np.concatenate([np.asarray(column, dtype=np.float64) for column in columns])
    finite: FloatArray = values[np.isfinite(values)]
    return finite


class Exit(NamedTuple):
    """Where (x as drawn) a run's mean leaves the window, and its lowest score (fraction) below it.

    For several `runs` of a crowd, or several `seeds` of a run whose mean stays: the first of them, and the lowest score
    of all.
    """

    run: str
    method: str
    x: float
    lowest: float
    runs: int = 1
    seeds: int = 0

    @property
    def text(self) -> str:
        """Say what falls, and how deep.

        >>> Exit("run", "ugs", 0.5, 0.265).text, Exit("run", "ugs", 0.5, 0.265, seeds=2).text
        ('falls to 26.5 %', '2 seeds fall, one to 26.5 %')
        """
        lowest = formats.percent(self.lowest)
        who = formats.number_of(self.seeds, "seed") if self.seeds else str(self.runs)
        if max(self.seeds, self.runs) > 1:
            return f"{who} fall, one to {lowest}"
        return f"{who} falls to {lowest}" if self.seeds else f"falls to {lowest}"

    @property
    def short(self) -> str:
        """Say the same in few letters.

        >>> Exit("run", "ugs", 0.5, 0.265).short, Exit("run", "ugs", 0.5, 0.265, seeds=2).short
        ('to 26.5%', '2 seeds to 26.5%')
        """
        several = f"{formats.number_of(self.seeds, 'seed')} " if self.seeds else f"{self.runs} " * (self.runs > 1)
        return f"{several}to {formats.percent(self.lowest).replace(' ', '')}"


def exits(table: pd.DataFrame, x: XAxis, shown: Window) -> list[Exit]:
    """Return an exit for every run of a `curve_table` whose mean falls below the window, and one for a whole crowd."""
    crowd = crowd_styles(table)
    found = _single_exits(table, x, shown)
    alone = [gone for gone in found if gone.run not in crowd]
    methods = dict.fromkeys(gone.method for gone in found if gone.run in crowd)
    together = [[gone for gone in found if gone.run in crowd and gone.method == method] for method in methods]
    return [*alone, *(_first(each, x) for each in together)]


def seed_exits(
    table: pd.DataFrame, rounds: pd.DataFrame, x: XAxis, score: Score, macs: MacConvention, shown: Window
) -> list[Exit]:
    """Return an exit for every run of a `curve_table` whose mean stays in the window while seeds fall below it."""
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


def _first(several: list[Exit], x: XAxis) -> Exit:
    nearest = (max if x == "macs" else min)(several, key=lambda gone: gone.x)
    return nearest._replace(lowest=min(gone.lowest for gone in several), runs=len(several))


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
