"""Mean betweenness of nodes and edges, without computing any single one.

A shortest path of length d has d - 1 inner nodes and d edges, so the sum of all betweenness values is a sum of
distances, however many shortest paths a pair has. Values are NetworkX's (normalised, end points not counted).
"""

from __future__ import annotations

from math import nan

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure
from analysis.measures.sampling import by_sampling


def mean_node_betweenness(graph: MeasuredGraph) -> float:
    """Mean of NetworkX's `betweenness_centrality`: sum of (d - 1) over connected ordered pairs / (N (N-1) (N-2)).

    N is the number of nodes, d the distance of a pair. Isolated nodes count with value 0. With fewer than three nodes
    every value is 0; NaN without nodes. Cutting a graph apart lowers it (fewer pairs), longer detours raise it: it
    alone does not say which happened.
    """
    n = graph.num_nodes
    if n < 3:
        return 0.0 if n else nan
    return (graph.distances.total - graph.distances.pairs) / (n * (n - 1) * (n - 2))


def mean_edge_betweenness(graph: MeasuredGraph) -> float:
    """Mean of NetworkX's `edge_betweenness_centrality`: sum of d over connected ordered pairs / (N (N-1) M).

    N and M are the numbers of nodes and edges, d the distance of a pair. The mean is over edges, so it rises when
    edges go and the others carry more. The paper also lists Citeseer's 124 native self-loops, each with value 0:
    multiply by M / (M + 124) to compare (.0008102 instead of .0008322). NaN without edges.
    """
    n = graph.num_nodes
    return graph.distances.total / (n * (n - 1) * graph.num_edges) if graph.num_edges else nan


for name, label, order, compute in (
    ("mean_node_betweenness", "Mean node betweenness", 42, mean_node_betweenness),
    ("mean_edge_betweenness", "Mean edge betweenness", 43, mean_edge_betweenness),
):
    MEASURES.register(
        Measure(name, label, "", "seconds", order, compute, family="distances", error=by_sampling(compute))
    )
