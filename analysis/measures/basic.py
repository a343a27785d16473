"""Counts, degrees, clustering and homophily: measures that need no path."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from analysis.measures import MEASURES, Measure
from analysis.measures.graph import MeasuredGraph
from glt.datasets.graph import IntArray


def nodes(graph: MeasuredGraph) -> int:
    """Number of nodes, isolated ones included.

    Pruning removes edges, never nodes, so it does not change, and means over nodes include nodes without an edge.
    """
    return graph.num_nodes


def edges(graph: MeasuredGraph) -> int:
    """Number of undirected edges; of a pruned graph, those kept in at least one direction.

    With directed masks this looks better than it is: the share of kept entries is lower, and fewer edges are kept both
    ways. Self-loops do not count.
    """
    return graph.num_edges


def isolated_nodes(graph: MeasuredGraph) -> int:
    """Number of nodes without an edge; a network sees only their own features.

    Citeseer has such nodes before any pruning: compare with the original graph.
    """
    return int((graph.degrees == 0).sum())


def mean_degree(graph: MeasuredGraph) -> float:
    """Mean number of neighbours, 2 M / N for M edges and N nodes; NaN for a graph without nodes.

    Nodes stay, so it falls with the edges kept either way and does not depend on which edges were removed.
    """
    return 2 * graph.num_edges / graph.num_nodes if graph.num_nodes else nan


def degree_counts(graph: MeasuredGraph) -> IntArray:
    """Return the number of nodes with 0, 1, 2, ... neighbours, [largest degree + 1]."""
    return np.bincount(graph.degrees, minlength=1)


def largest_degree(graph: MeasuredGraph) -> float:
    """Largest number of neighbours of a node; NaN for a graph without nodes.

    It is the value of one node: a method that spares hubs also changes `degree_gini`.
    """
    return int(graph.degrees.max()) if graph.num_nodes else nan


def degree_gini(graph: MeasuredGraph) -> float:
    """Gini coefficient of the degrees: 0 when all degrees are equal, near 1 when few nodes have nearly all neighbours.

    Isolated nodes count with degree 0, so random pruning raises it too. NaN for a graph without edges.
    """
    if not graph.num_edges:
        return nan
    n, degrees = graph.num_nodes, np.sort(graph.degrees)
    return float(2 * (np.arange(1, n + 1) * degrees).sum() / (n * degrees.sum()) - (n + 1) / n)


def degree_assortativity(graph: MeasuredGraph) -> float:
    """Pearson correlation of the degrees at the two ends of an edge (Newman, 2002), each edge counted both ways.

    Below 0, hubs are connected to nodes with few neighbours. NaN when all ends have the same degree.
    """
    ends = graph.degrees[graph.edges]
    if not graph.num_edges or ends.min() == ends.max():
        return nan
    return float(np.corrcoef(ends.ravel(), ends[::-1].ravel())[0, 1])


def average_clustering(graph: MeasuredGraph) -> float:
    """Mean over ALL nodes of the share of a node's pairs of neighbours that are connected; NetworkX's convention.

    Nodes of degree 0 and 1 have no pair and count as 0, so the value falls when pruning makes more of them;
    `clustering_degree_two` leaves them out. NaN for a graph without nodes.
    """
    return float(_coefficients(graph).sum()) / graph.num_nodes if graph.num_nodes else nan


def clustering_degree_two(graph: MeasuredGraph) -> float:
    """Mean of the clustering coefficient over the nodes of degree 2 or more, where it is defined; NaN without one.

    Pruning changes which nodes those are, so it can rise while triangles are removed: read it with `triangles`.
    """
    defined = _coefficients(graph)
    return float(defined.mean()) if defined.size else nan


def node_clustering(graph: MeasuredGraph) -> NDArray[np.float64]:
    """Return the clustering coefficient of every node, [N]; 0 below degree 2, as in NetworkX."""
    coefficients = np.zeros(graph.num_nodes)
    coefficients[graph.degrees >= 2] = _coefficients(graph)
    return coefficients


def triangles(graph: MeasuredGraph) -> int:
    """Number of triples of nodes that are all neighbours of each other, each counted once.

    A triangle needs all its three edges, so random pruning to a share s of the edges leaves about s cubed of them:
    compare with random graphs of equal density.
    """
    return int(graph.triangles.sum()) // 3


def _coefficients(graph: MeasuredGraph) -> NDArray[np.float64]:
    """Return the clustering coefficient of the nodes of degree 2 or more: triangles / pairs of neighbours."""
    several = graph.degrees >= 2
    pairs = graph.degrees[several] * (graph.degrees[several] - 1) / 2
    return graph.triangles[several] / pairs


def edge_homophily(graph: MeasuredGraph) -> float:
    """Share of edges whose two ends have the same label, over the edges with both labels known; NaN without one.

    Random pruning does not change it on average, so a shift shows that the removed edges depend on class. What is high
    depends on the number and the sizes of the classes.
    """
    low, high = _labels_at_ends(graph)
    return float((low == high).mean()) if low.size else nan


def adjusted_homophily(graph: MeasuredGraph) -> float:
    """Edge homophily corrected for class sizes: 1 when all edges connect equal classes, 0 by chance.

    (h - sum_k p_k^2) / (1 - sum_k p_k^2), where p_k is the share of edge ends in class k (Platonov et al., 2023, which
    is also the assortativity of the labels); comparable between data sets, unlike the plain share. NaN when only one
    class has edges.
    """
    low, high = _labels_at_ends(graph)
    if not low.size:
        return nan
    ends = np.bincount(np.concatenate([low, high]))
    chance = float(np.square(ends / ends.sum()).sum())
    return (float((low == high).mean()) - chance) / (1 - chance) if np.count_nonzero(ends) > 1 else nan


def _labels_at_ends(graph: MeasuredGraph) -> IntArray:
    """Return the labels at both ends of every edge with both labels known, [2, edges]."""
    ends = graph.labels[graph.edges]
    return ends[:, (ends >= 0).all(axis=0)]


for name, label, unit, order, compute in (
    ("nodes", "Nodes", "", 10, nodes),
    ("edges", "Edges (either way)", "", 11, edges),
    ("mean_degree", "Mean degree", "", 15, mean_degree),
    ("largest_degree", "Largest degree", "", 16, largest_degree),
    ("degree_gini", "Gini of degrees", "", 17, degree_gini),
    ("degree_assortativity", "Assortativity by degree", "", 18, degree_assortativity),
    ("isolated_nodes", "Isolated nodes", "", 20, isolated_nodes),
    ("average_clustering", "Average clustering", "", 40, average_clustering),
    ("clustering_degree_two", "Clustering, degree 2 and more", "", 41, clustering_degree_two),
    ("triangles", "Triangles", "", 45, triangles),
    ("edge_homophily", "Edge homophily", "share of edges", 50, edge_homophily),
    ("adjusted_homophily", "Homophily, adjusted", "", 51, adjusted_homophily),
):
    MEASURES.register(Measure(name, label, unit, "instant", order, compute))
