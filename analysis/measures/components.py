"""Into how many pieces a graph falls."""

from __future__ import annotations

from math import nan

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure


def components(graph: MeasuredGraph) -> int:
    """How many connected components there are; every isolated node is one.

    A rise may be nothing but more isolated nodes: read it with `isolated_nodes` and `largest_component_share`.
    """
    return int(graph.component.max(initial=-1)) + 1


def largest_component_share(graph: MeasuredGraph) -> float:
    """Share of all nodes that lie in the largest connected component; NaN for a graph without nodes.

    It says nothing of how firmly that component holds together, nor of what the other nodes are: `bridge_share` and
    `isolated_nodes` do.
    """
    return int(graph.largest_component.size) / graph.num_nodes if graph.num_nodes else nan


MEASURES.register(Measure("components", "Components", "", "instant", 21, components))
MEASURES.register(
    Measure("largest_component_share", "Largest component", "share of nodes", "instant", 22, largest_component_share)
)
