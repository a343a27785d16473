"""How the number of neighbours is spread over the nodes."""

from __future__ import annotations

from math import nan

import numpy as np

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure
from glt.data.graph import IntArray


def degree_counts(graph: MeasuredGraph) -> IntArray:
    """Return how many nodes have 0, 1, 2, ... neighbours: the degree distribution, [largest degree + 1]."""
    return np.bincount(graph.degrees, minlength=1)


def largest_degree(graph: MeasuredGraph) -> float:
    """How many neighbours the node with the most of them has; NaN for a graph without nodes.

    It is the value of one node: a method that spares hubs shows in `degree_gini` too.
    """
    return int(graph.degrees.max()) if graph.num_nodes else nan


def degree_gini(graph: MeasuredGraph) -> float:
    """Gini coefficient of the degrees: 0 when all nodes have as many neighbours, near 1 when few have nearly all.

    Isolated nodes count with degree 0, so random pruning raises it too. NaN for a graph without edges.
    """
    if not graph.num_edges:
        return nan
    n, degrees = graph.num_nodes, np.sort(graph.degrees)
    return float(2 * (np.arange(1, n + 1) * degrees).sum() / (n * degrees.sum()) - (n + 1) / n)


def degree_assortativity(graph: MeasuredGraph) -> float:
    """Pearson correlation of the degrees at the two ends of an edge (Newman, 2002), each edge read both ways.

    Below 0, hubs are joined to nodes of few neighbours. NaN when all ends have the same degree.
    """
    ends = graph.degrees[graph.edges]
    if not graph.num_edges or ends.min() == ends.max():
        return nan
    return float(np.corrcoef(ends.ravel(), ends[::-1].ravel())[0, 1])


MEASURES.register(Measure("largest_degree", "Largest degree", "", "instant", 16, largest_degree))
MEASURES.register(Measure("degree_gini", "Gini of degrees", "", "instant", 17, degree_gini))
MEASURES.register(Measure("degree_assortativity", "Assortativity by degree", "", "instant", 18, degree_assortativity))
