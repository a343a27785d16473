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


def spearman(first: FloatArray, second: FloatArray) -> float:
    """Return the correlation of two orders, ties at their mean rank; NaN when one of them has only ties.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([5.0, 4.0, 0.0]))
    -1.0
    """
    ranks = _ranks(first), _ranks(second)
    if any(rank.size < 2 or rank.min() == rank.max() for rank in ranks):
        return nan
    return round(float(np.corrcoef(*ranks)[0, 1]), 12)


def _ranks(values: FloatArray) -> FloatArray:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
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
