"""Measures of shortest paths: reach, path length and mean betweenness.

A shortest path of length d has d - 1 inner nodes and d edges, so mean betweenness follows from the sum of all
distances, without single values. Values are NetworkX's (normalised, end points not counted).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan

from analysis.measures import MEASURES, Measure
from analysis.measures.bfs import half_width
from analysis.measures.graph import MeasuredGraph

Compute = Callable[[MeasuredGraph], float]


def reach(graph: MeasuredGraph) -> float:
    """Share of pairs of different nodes that a path connects; NaN for fewer than two nodes.

    It is close to the square of the largest component's share of nodes, so it falls faster than that share.
    """
    n = graph.num_nodes
    return graph.connected_pairs / (n * (n - 1)) if n > 1 else nan


def average_path_length(graph: MeasuredGraph) -> float:
    """Mean number of edges on a shortest path, over connected pairs; NaN when no pair is connected.

    Pairs that pruning disconnects drop out of the mean, so it can FALL while a graph falls apart: read it with reach.
    NetworkX's `average_shortest_path_length` refuses disconnected graphs.
    """
    distances = graph.distances
    return distances.total / distances.pairs if distances.pairs else nan


def mean_node_betweenness(graph: MeasuredGraph) -> float:
    """Mean of NetworkX's `betweenness_centrality`: sum of (d - 1) over connected ordered pairs / (N (N-1) (N-2)).

    N is the number of nodes, d the distance of a pair. Isolated nodes count with value 0. With fewer than three nodes
    every value is 0; NaN without nodes. Disconnected pairs lower it, longer paths raise it: it alone does not show
    which happened.
    """
    n = graph.num_nodes
    if n < 3:
        return 0.0 if n else nan
    return (graph.distances.total - graph.distances.pairs) / (n * (n - 1) * (n - 2))


def mean_edge_betweenness(graph: MeasuredGraph) -> float:
    """Mean of NetworkX's `edge_betweenness_centrality`: sum of d over connected ordered pairs / (N (N-1) M).

    N and M are the numbers of nodes and edges, d the distance of a pair. The mean is over edges, so it rises when the
    remaining edges carry more paths. The paper includes Citeseer's 124 native self-loops, each with value 0: multiply
    by M / (M + 124) to compare (.0008102 instead of .0008322). NaN without edges.
    """
    n = graph.num_nodes
    return graph.distances.total / (n * (n - 1) * graph.num_edges) if graph.num_edges else nan


def sampling_error(compute: Compute, graph: MeasuredGraph) -> float:
    """Return the half-width of the 95 % interval of a measure; 0 where distances are exact."""
    return half_width(graph.distances, graph.num_nodes, lambda found: compute(graph.with_distances(found)))


MEASURES.register(Measure("reach", "Reach", "share of pairs", "instant", 30, reach))
for name, label, unit, order, compute in (
    ("average_path_length", "Average path length", "edges", 31, average_path_length),
    ("mean_node_betweenness", "Mean node betweenness", "", 42, mean_node_betweenness),
    ("mean_edge_betweenness", "Mean edge betweenness", "", 43, mean_edge_betweenness),
):
    error = partial(sampling_error, compute)
    MEASURES.register(Measure(name, label, unit, "seconds", order, compute, family="distances", error=error))
