"""Counts: nodes, edges, isolated nodes, degrees."""

from __future__ import annotations

from math import nan

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure


def nodes(graph: MeasuredGraph) -> int:
    """How many nodes there are, isolated ones included.

    Pruning removes edges, never nodes, so it stays as it is, and means over nodes count those without an edge too.
    """
    return graph.num_nodes


def edges(graph: MeasuredGraph) -> int:
    """How many undirected edges there are; of a pruned graph, those that survive in at least one direction.

    With directed masks this flatters: the share of surviving entries is lower, and edges that survive both ways
    are fewer still. Self-loops do not count.
    """
    return graph.num_edges


def isolated_nodes(graph: MeasuredGraph) -> int:
    """How many nodes have no edge; a network sees only their own features.

    Citeseer has such nodes before any pruning: what counts is how many more there are than in the original graph.
    """
    return int((graph.degrees == 0).sum())


def mean_degree(graph: MeasuredGraph) -> float:
    """Mean number of neighbours, 2 M / N for M edges and N nodes; NaN for a graph without nodes.

    Nodes stay, so it falls with the edges kept either way and says nothing of which edges went.
    """
    return 2 * graph.num_edges / graph.num_nodes if graph.num_nodes else nan


MEASURES.register(Measure("nodes", "Nodes", "", "instant", 10, nodes))
MEASURES.register(Measure("edges", "Edges (either way)", "", "instant", 11, edges))
MEASURES.register(Measure("mean_degree", "Mean degree", "", "instant", 15, mean_degree))
MEASURES.register(Measure("isolated_nodes", "Isolated nodes", "", "instant", 20, isolated_nodes))
