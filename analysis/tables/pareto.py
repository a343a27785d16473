"""The Pareto front of means: rounds beside which no other one has a mean score as high at no more cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.tables.curve import XAxis

# What a score can be compared within; one front lies over all runs that share it.
SUBJECT = ["dataset", "task", "objective", "model"]


def is_on_front(cost: ArrayLike, score: ArrayLike) -> NDArray[np.bool_]:
    """Say which points no other point beats: none with at most their cost and at least their score, better in one.

    Of points equal in both, all are on the front. A NaN is on none.

    >>> is_on_front([1, 2, 3, 3], [0.7, 0.8, 0.75, 0.9]).tolist()
    [True, True, False, True]
    """
    costs, scores = np.asarray(cost, dtype=np.float64), np.asarray(score, dtype=np.float64)
    known = np.isfinite(costs) & np.isfinite(scores)
    order = np.lexsort((-scores, costs))
    order = order[known[order]]
    best_before = np.maximum.accumulate(np.concatenate([[-np.inf], scores[order]]))[:-1]
    front = np.zeros(costs.shape, dtype=np.bool_)
    front[order] = scores[order] > best_before
    # Sorting puts one of several equal points first; the others are as good.
    pairs = set(zip(costs[front], scores[front], strict=True))
    equal = np.fromiter((pair in pairs for pair in zip(costs, scores, strict=True)), np.bool_, costs.size)
    return np.asarray(front | equal)


def with_front(curve: pd.DataFrame, x: XAxis) -> pd.DataFrame:
    """Return a `curve_table` (made with the same x) with the column on_front, a front for each data set and network.

    Fewer MACs, and more sparsity, cost less; MACs are compared by three figures and sparsities by tenths of a percent,
    as they are shown, because methods round their counts differently. Rounds of different data sets, tasks or networks
    never compete.
    """
    cost = _three_figures(curve["x"]) if x == "macs" else -curve["x"].round(3)
    fronts = pd.Series(data=False, index=curve.index, dtype=np.bool_)
    for _, rows in curve.groupby(SUBJECT, sort=False):
        fronts.loc[rows.index] = is_on_front(cost.loc[rows.index], rows["mean"])
    return curve.assign(on_front=fronts)


def _three_figures(values: pd.Series) -> pd.Series:
    unit = 10.0 ** (np.floor(np.log10(values.where(values > 0))) - 2)
    return (values / unit).round() * unit
