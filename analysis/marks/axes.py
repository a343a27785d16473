"""Words, units and ranges of the axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.tables.captions import check_shared_data, shared_metric
from analysis.tables.curves import Score, XAxis
from glt.store import MacConvention

FloatArray = NDArray[np.float64]

MAC_NAMES: dict[MacConvention, str] = {
    "dense_features": "dense features",
    "sparse_features": "sparse features",
    "published": "as published",
}
# How many kinds of lines tell runs of one method apart.
DASHES = 4
# A method that collapses would flatten all that matters, so the near view ends this far (fraction) under dense.
NEAR = 0.20
# An interval over two seeds is twelve times their spread: beyond this far (fraction) from all means it is cut off.
INTERVALS = 0.05


class Window(NamedTuple):
    """The stretch of the y axis that is drawn, in percent."""

    low: float
    high: float


def x_column(x: XAxis, macs: MacConvention) -> str:
    """Return the column of `rounds_table` that stands on the x axis."""
    return {"graph": "graph_sparsity", "weight": "weight_sparsity", "macs": f"macs_{macs}"}[x]


def x_title(x: XAxis, macs: MacConvention, short: bool = False) -> str:
    """Return the words under the x axis, with the unit; `short` ones fit a column of paper."""
    if short:
        return {
            "graph": "Graph sparsity (%)",
            "weight": "Weight sparsity (%)",
            "macs": "Inference MACs (M, log scale)",
        }[x]
    if x == "macs":
        return f"Inference MACs ({MAC_NAMES[macs]}, log scale)"
    return "Graph sparsity (% of edge entries removed)" if x == "graph" else "Weight sparsity (% of weights removed)"


def score_title(table: pd.DataFrame, score: Score) -> str:
    """Return the words beside the y axis of a table's runs; raises ConfigError when they are of several kinds.

    So it does when they are on different data under one name.
    """
    check_shared_data(table, "One figure")
    return f"Test {shared_metric(table)}{', last epoch' if score == 'test_last' else ''} (%)"


def x_values(x: XAxis, values: ArrayLike) -> FloatArray:
    """Return x as drawn: percent for sparsities, millions for MACs."""
    return np.asarray(values, dtype=np.float64) * (1e-6 if x == "macs" else 100.0)


def dash_of_run(table: pd.DataFrame) -> dict[str, int]:
    """Return for every run which of the DASHES its line has: the first run of a method is solid, others follow.

    A crowd that is a multiple of three takes three of them, so that in a grid of three values each keeps its dash.
    """
    runs = table[["run", "method"]].drop_duplicates()
    groups = runs.groupby("method")
    of_method = groups["run"].transform("size")
    period = np.where((of_method > DASHES) & (of_method % 3 == 0), 3, DASHES)
    return dict(zip(runs["run"], groups.cumcount() % period, strict=True))


def window(table: pd.DataFrame, extra: Sequence[float] = (), near: bool = True) -> Window:
    """Return the y range for a `curve_table`, wide enough for its means and for `extra` scores (fractions).

    Intervals widen it by INTERVALS at most; with `near` it ends NEAR below the lowest dense mean, whatever falls
    deeper.
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


def log_ticks(low: float, high: float) -> list[float]:
    """Return the 1-2-5 steps inside a range of positive numbers, or even steps where those are fewer than three.

    >>> log_ticks(30, 600), log_ticks(95, 156)
    ([50.0, 100.0, 200.0, 500.0], [100.0, 120.0, 140.0])
    """
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    steps = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    inside = [step for step in steps if low <= step <= high]
    return inside if len(inside) > 2 else _even_ticks(low, high)


def _even_ticks(low: float, high: float) -> list[float]:
    unit = 10.0 ** np.floor(np.log10((high - low) / 4))
    step = next(unit * times for times in (1, 2, 5, 10) if 4 * unit * times >= high - low)
    return [float(count * step) for count in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Return the values pushed apart to at least `gap`, their order kept, so that labels do not touch.

    >>> spread([80.0, 81.0, 70.0], 4.0)
    [78.5, 82.5, 70.0]
    """
    order = np.argsort(values, kind="stable")
    placed = np.asarray(values, dtype=np.float64)[order]
    for _ in range(len(placed)):
        overlap = np.maximum(gap - np.diff(placed), 0.0)
        placed[:-1] -= overlap / 2
        placed[1:] += overlap / 2
    result = np.empty_like(placed)
    result[order] = placed
    return [float(value) for value in result]
