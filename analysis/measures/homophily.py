"""How alike neighbours are."""

from __future__ import annotations

from math import nan

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure


def edge_homophily(graph: MeasuredGraph) -> float:
    """Share of edges whose two ends have the same label, over the edges with both labels known; NaN without one.

    Random pruning leaves it as it is, so a shift says that the method chose edges by class. What counts as high
    depends on the number and the sizes of the classes.
    """
    low, high = graph.labels[graph.edges]
    known = (low >= 0) & (high >= 0)
    return float((low == high)[known].mean()) if known.any() else nan


MEASURES.register(Measure("edge_homophily", "Edge homophily", "share of edges", "instant", 50, edge_homophily))
