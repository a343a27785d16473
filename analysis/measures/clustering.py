"""How often two neighbours of a node are neighbours of each other (Watts and Strogatz, 1998)."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure


def average_clustering(graph: MeasuredGraph) -> float:
    """Mean over ALL nodes of the share of a node's pairs of neighbours that are joined; NetworkX's convention.

    Nodes of degree 0 and 1 have no pair and count as 0, so the value falls merely because pruning makes more of
    them; `clustering_degree_two` leaves them out. NaN for a graph without nodes.
    """
    return float(_defined(graph).sum()) / graph.num_nodes if graph.num_nodes else nan


def clustering_degree_two(graph: MeasuredGraph) -> float:
    """Mean of the clustering coefficient over the nodes of degree 2 or more, where it is defined; NaN without one.

    Pruning changes which nodes those are, so it can rise while triangles go: read it with `triangles`.
    """
    defined = _defined(graph)
    return float(defined.mean()) if defined.size else nan


def node_clustering(graph: MeasuredGraph) -> NDArray[np.float64]:
    """Return the clustering coefficient of every node, [N]; 0 below degree 2, as NetworkX has it."""
    coefficients = np.zeros(graph.num_nodes)
    coefficients[graph.degrees >= 2] = _defined(graph)
    return coefficients


def triangles(graph: MeasuredGraph) -> int:
    """How many triples of nodes are all neighbours of each other, each counted once.

    A triangle is gone with any of its three edges, so random pruning to a share s of the edges leaves about s cubed of
    them: hold it against random graphs of equal density.
    """
    return int(graph.triangles.sum()) // 3


def _defined(graph: MeasuredGraph) -> NDArray[np.float64]:
    """Return the clustering coefficient of the nodes of degree 2 or more: triangles / pairs of neighbours."""
    several = graph.degrees >= 2
    pairs = graph.degrees[several] * (graph.degrees[several] - 1) / 2
    return graph.triangles[several] / pairs


MEASURES.register(Measure("average_clustering", "Average clustering", "", "instant", 40, average_clustering))
MEASURES.register(
    Measure("clustering_degree_two", "Clustering, degree 2 and more", "", "instant", 41, clustering_degree_two)
)
MEASURES.register(Measure("triangles", "Triangles", "", "instant", 45, triangles))
