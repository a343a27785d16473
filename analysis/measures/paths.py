"""How far apart nodes are, over the pairs that are connected at all."""

from __future__ import annotations

from math import nan

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure
from analysis.measures.sampling import by_sampling


def reach(graph: MeasuredGraph) -> float:
    """Share of pairs of different nodes that a path connects; NaN for fewer than two nodes.

    The largest component decides it, by about the square of its share of the nodes, so it falls faster than that share.
    """
    n = graph.num_nodes
    return graph.connected_pairs / (n * (n - 1)) if n > 1 else nan


def average_path_length(graph: MeasuredGraph) -> float:
    """Mean number of edges on a shortest path, over the pairs that are connected; NaN when none is.

    Pairs that pruning cuts off drop out of the mean, so it can FALL while a graph falls apart: read it with reach.
    NetworkX's `average_shortest_path_length` refuses such graphs.
    """
    distances = graph.distances
    return distances.total / distances.pairs if distances.pairs else nan


MEASURES.register(Measure("reach", "Reach", "share of pairs", "instant", 30, reach))
MEASURES.register(
    Measure(
        "average_path_length",
        "Average path length",
        "edges",
        "seconds",
        31,
        average_path_length,
        family="distances",
        error=by_sampling(average_path_length),
    )
)
