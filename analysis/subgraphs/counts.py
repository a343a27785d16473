"""The numbers under a picture: in the sample and in the whole graph."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.measures import MeasuredGraph
from analysis.measures.basic import isolated_nodes
from analysis.measures.connectivity import components
from analysis.subgraphs.subgraph import BOTH, REMOVED, EdgeStates, Subgraph
from glt import formats
from glt.masks import EdgeMask


@dataclass(frozen=True)
class Counts:
    """Nodes, undirected edges (before, surviving in at least one and in both directions) and what fell apart.

    `components` is None where they are not counted: of every round of a large graph that would take too long.
    """

    nodes: int
    edges: int
    kept_either_way: int
    kept_both_ways: int
    isolated_nodes: int
    components: int | None

    def sentence(self, lonely: int | None = None) -> str:
        """Write the counts as a line under a picture.

        Of a sample, `lonely` says how many nodes have no edge left in the whole graph either: what is isolated here
        may only have its neighbours elsewhere.

        >>> Counts(150, 300, 210, 150, 4, 9).sentence()
        '150 nodes · 210 of 300 edges kept (150 both ways) · 4 isolated · 9 components'
        >>> Counts(150, 300, 300, 300, 4, 9).sentence(lonely=1)
        '150 nodes · 300 edges · 4 without an edge here (1 without any in the whole graph) · 9 components'
        """
        if self.kept_both_ways == self.edges:
            edges = _several(self.edges, "edge")
        else:
            total, either, both = map(formats.count, (self.edges, self.kept_either_way, self.kept_both_ways))
            edges = f"{either} of {total} edges kept"
            edges += f" ({both} both ways)" if self.kept_both_ways < self.kept_either_way else ""
        isolated = f"{formats.count(self.isolated_nodes)} isolated"
        if lonely is not None:
            isolated = f"{formats.count(self.isolated_nodes)} without an edge here"
            isolated += f" ({formats.count(lonely)} without any in the whole graph)" if self.isolated_nodes else ""
        pieces = [] if self.components is None else [_several(self.components, "component")]
        return " · ".join([_several(self.nodes, "node"), edges, isolated, *pieces])


def _several(number: int, noun: str) -> str:
    return f"{formats.count(number)} {noun}" + ("" if number == 1 else "s")


def count_sample(subgraph: Subgraph, states: EdgeStates) -> Counts:
    """Return the counts of a sample; a node is isolated when none of the edges shown here is left to it."""
    kept = states != REMOVED
    left = MeasuredGraph(subgraph.nodes.size, subgraph.edges[:, kept], subgraph.labels)
    return _counts(left, states.size, int((states == BOTH).sum()))


def count_graph(left: MeasuredGraph, mask: EdgeMask) -> Counts:
    """Return the counts of a whole graph, from what a mask left of it either way."""
    return _counts(left, mask.num_edges, int(mask.both_ways().sum()))


def _counts(left: MeasuredGraph, edges: int, both: int) -> Counts:
    pieces = None if left.is_large else components(left)
    return Counts(left.num_nodes, edges, left.num_edges, both, isolated_nodes(left), pieces)
