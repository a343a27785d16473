"""The part of a graph that a picture shows, and what a mask leaves of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.subgraphs.layout import Positions, layout
from glt.data.graph import Graph, IntArray
from glt.masks import EdgeMask

EdgeStates = NDArray[np.uint8]

REMOVED, FORWARD, BACKWARD, BOTH = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Subgraph:
    """n nodes with the m edges between them, laid out once for every picture of them.

    `nodes` [n] are indices in the graph, ascending; `edges` [2, m] are positions in `nodes` (low, high);
    `edge_ids` [m] are columns of the graph's edges; `positions` is [n, 2]; `labels` [n] are classes (-1 unknown);
    `names` are what users call the nodes; `class_names` names every class of the graph.
    """

    nodes: IntArray
    edges: IntArray
    edge_ids: IntArray
    positions: Positions
    labels: IntArray
    names: tuple[str, ...]
    class_names: tuple[str, ...]

    def class_name(self, node: int) -> str:
        """Return the class of the node at position `node` in words."""
        return self.label_name(int(self.labels[node]))

    def label_name(self, label: int) -> str:
        """Return a label in words; -1 is an unknown class."""
        return _class_name(self.class_names, label)

    def legend_labels(self) -> list[int]:
        """Return the labels that a legend explains: classes in order, then -1; none where no class is known."""
        known = np.unique(self.labels[self.labels >= 0]).tolist()
        return [*known, -1] if known and (self.labels < 0).any() else known


def take(graph: Graph, nodes: IntArray, seed: int = 0) -> Subgraph:
    """Return the subgraph induced by `nodes` (distinct indices), laid out on the unpruned edges with `seed`."""
    nodes = np.sort(nodes)
    place = np.full(graph.num_nodes, -1, dtype=np.int64)
    place[nodes] = np.arange(nodes.size)
    ends = place[graph.edges]
    edge_ids = np.flatnonzero((ends >= 0).all(axis=0))
    edges = ends[:, edge_ids]
    return Subgraph(
        nodes=nodes,
        edges=edges,
        edge_ids=edge_ids,
        positions=layout(nodes.size, edges, seed),
        labels=graph.labels[nodes],
        names=tuple(node_name(graph, node) for node in nodes.tolist()),
        class_names=class_names(graph),
    )


def node_name(graph: Graph, node: int) -> str:
    """Return what users call a node: the data set's own id where it has one, else its number."""
    return str(node) if graph.node_ids is None else graph.node_ids[node]


def classes_of(graph: Graph, nodes: Sequence[int] | IntArray) -> list[str]:
    """Return the class of each of these nodes in words."""
    names = class_names(graph)
    return [_class_name(names, label) for label in graph.labels[nodes].tolist()]


def class_names(graph: Graph) -> tuple[str, ...]:
    """Return a name for every class; classes without one are called by their number."""
    named = graph.class_names
    return tuple(named[k] if k < len(named) else f"Class {k}" for k in range(graph.num_classes))


def has_classes(graph: Graph) -> bool:
    """Say whether the class of any node is known."""
    return bool((graph.labels >= 0).any())


def _class_name(names: Sequence[str], label: int) -> str:
    return names[label] if label >= 0 else "unknown class"


def edge_states(subgraph: Subgraph, mask: EdgeMask) -> EdgeStates:
    """Return [m] what is left of each edge: REMOVED, FORWARD (low to high only), BACKWARD or BOTH.

    Entry (i, j) carries the message from i to j, so FORWARD is a message from the lower to the higher node.
    """
    forward, backward = mask.directions()[:, subgraph.edge_ids]
    return np.asarray(FORWARD * forward + BACKWARD * backward, dtype=np.uint8)
