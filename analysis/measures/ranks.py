"""Whether pruning left the order of the nodes by importance as it was."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure

FloatArray = NDArray[np.float64]

# Nodes that the graph does not tell apart differ in the last digits of an iteration; they must tie.
DECIMALS = 7
# Relative to the larger of two values.
TIE = 1e-9
DAMPING, PRECISION = 0.85, 1e-12


def pagerank_spearman(graph: MeasuredGraph) -> float:
    """Spearman correlation of the nodes' PageRank (damping .85) with that in the original graph, over all nodes.

    1 for an unpruned graph: the order of importance is untouched. Isolated nodes tie at the lowest rank. NaN when
    all nodes of one of the two graphs tie.
    """
    return spearman(_importance(graph.original), _importance(graph))


def degree_spearman(graph: MeasuredGraph) -> float:
    """Spearman correlation of the nodes' degrees with those in the original graph, over all nodes; NaN as PageRank's.

    Pruning at random lowers it as well: hold it against the null of equal density.
    """
    return spearman(graph.original.degrees.astype(np.float64), graph.degrees.astype(np.float64))


def tie_groups(values: FloatArray) -> NDArray[np.int64]:
    """Return the number of each value's group, [n], 0 for the smallest: values tie that differ by rounding alone.

    Sums in another order differ in their last digits. Neighbours in the sorted order tie where they differ by no more
    than TIE of the larger one. NaN has the group -1.

    >>> tie_groups(np.array([0.3, 0.1 + 0.2, 0.1, 0.0])).tolist()
    [2, 2, 1, 0]
    """
    groups = np.full(values.size, -1, dtype=np.int64)
    known = np.flatnonzero(~np.isnan(values))
    if known.size:
        order = known[np.argsort(values[known], kind="stable")]
        rising = values[order]
        apart = np.diff(rising) > TIE * np.maximum(np.abs(rising[1:]), np.abs(rising[:-1]))
        groups[order] = np.concatenate([[0], np.cumsum(apart)])
    return groups


def ranks_from_the_top(values: FloatArray) -> FloatArray:
    """Return the rank of each value, [n], 1 for the largest; ties share the best rank they have, NaN has none (NaN).

    >>> ranks_from_the_top(np.array([0.1, 0.3, 0.1 + 0.2, 0.0])).tolist()
    [3.0, 1.0, 1.0, 4.0]
    """
    groups = tie_groups(values)
    counts = np.bincount(groups[groups >= 0])
    above = counts[::-1].cumsum()[::-1] - counts
    ranks = np.full(values.size, nan)
    ranks[groups >= 0] = 1 + above[groups[groups >= 0]]
    return ranks


def spearman(first: FloatArray, second: FloatArray) -> float:
    """Return the correlation of two orders, ties at their mean rank; NaN when one of them has only ties.

    Values tie as in `tie_groups`; where one of a pair is NaN, the pair is left out.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([5.0, 4.0, 0.0]))
    -1.0
    """
    both = ~(np.isnan(first) | np.isnan(second))
    ranks = _ranks(first[both]), _ranks(second[both])
    if any(rank.size < 2 or rank.min() == rank.max() for rank in ranks):
        return nan
    return round(float(np.corrcoef(*ranks)[0, 1]), 12)


def _ranks(values: FloatArray) -> FloatArray:
    place = tie_groups(values)
    counts = np.bincount(place)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def pagerank(graph: MeasuredGraph) -> FloatArray:
    """Return PageRank (Page et al., 1999) of every node, [N], as NetworkX's: damping .85, isolated nodes jump anywhere.

    Found by iteration until no more than 1e-12 moves in all; the values sum to 1.
    """
    n = graph.num_nodes
    isolated = graph.degrees == 0
    shares = np.where(isolated, 0.0, 1 / np.maximum(graph.degrees, 1))
    adjacency = graph.adjacency.astype(np.float64)
    found = np.full(n, 1 / max(n, 1))
    moved = 1.0
    while n and moved > PRECISION:
        before = found
        jumped = DAMPING * before[isolated].sum() + 1 - DAMPING
        found = DAMPING * (adjacency @ (shares * before)) + jumped / n
        moved = float(np.abs(found - before).sum())
    return found


def _importance(graph: MeasuredGraph) -> FloatArray:
    return np.round(graph.num_nodes * pagerank(graph), DECIMALS)


for name, label, order, compute in (
    ("pagerank_spearman", "PageRank order kept (Spearman)", 60, pagerank_spearman),
    ("degree_spearman", "Degree order kept (Spearman)", 61, degree_spearman),
):
    MEASURES.register(Measure(name, label, "", "instant", order, compute, against_original=True))
