"""How alike neighbours are."""

from __future__ import annotations

from math import nan

import numpy as np

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure
from glt.data.graph import IntArray


def edge_homophily(graph: MeasuredGraph) -> float:
    """Share of edges whose two ends have the same label, over the edges with both labels known; NaN without one.

    Random pruning leaves it as it is, so a shift says that the method chose edges by class. What counts as high
    depends on the number and the sizes of the classes.
    """
    low, high = _known_ends(graph)
    return float((low == high).mean()) if low.size else nan


def adjusted_homophily(graph: MeasuredGraph) -> float:
    """Edge homophily beyond what classes of these sizes give by chance: 1 when all edges join equals, 0 by chance.

    (h - sum_k p_k^2) / (1 - sum_k p_k^2), where p_k is the share of edge ends in class k (Platonov et al., 2023, which
    is also the assortativity of the labels); comparable between data sets, unlike the plain share. NaN when only one
    class has edges.
    """
    low, high = _known_ends(graph)
    if not low.size:
        return nan
    ends = np.bincount(np.concatenate([low, high]))
    chance = float(np.square(ends / ends.sum()).sum())
    return (float((low == high).mean()) - chance) / (1 - chance) if np.count_nonzero(ends) > 1 else nan


def _known_ends(graph: MeasuredGraph) -> IntArray:
    """Return the labels at both ends of every edge of which both are known, [2, edges]."""
    ends = graph.labels[graph.edges]
    return ends[:, (ends >= 0).all(axis=0)]


MEASURES.register(Measure("edge_homophily", "Edge homophily", "share of edges", "instant", 50, edge_homophily))
MEASURES.register(Measure("adjusted_homophily", "Homophily, adjusted", "", "instant", 51, adjusted_homophily))
