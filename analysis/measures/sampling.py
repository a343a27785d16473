"""How exact a measure is whose shortest paths were followed from some nodes only."""

from __future__ import annotations

from collections.abc import Callable

from analysis.measures.bfs import half_width
from analysis.measures.graph import MeasuredGraph

Compute = Callable[[MeasuredGraph], float]


def by_sampling(compute: Compute) -> Compute:
    """Return what gives the half-width of the 95 % interval of a measure of distances; 0 for an exact one."""

    def error(graph: MeasuredGraph) -> float:
        return half_width(graph.distances, graph.num_nodes, lambda found: compute(graph.with_distances(found)))

    return error
