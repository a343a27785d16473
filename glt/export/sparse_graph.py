"""SparseGraph: what pruning left of a graph, as other programs read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from glt.data import Graph
from glt.data.graph import IntArray
from glt.errors import DataError
from glt.masks import EdgeMask
from glt.store import SeedRun
from glt.tickets.graph import graph_of


@dataclass(frozen=True, eq=False)
class SparseGraph:
    """Surviving edges by node number: entries [2, m] (source, target) when `directed`, else each edge once.

    Nodes that lost every edge are still there. `labels` are class numbers, -1 where unknown.
    """

    title: str
    directed: bool
    edges: IntArray
    node_ids: Sequence[str]
    labels: IntArray
    class_names: Sequence[str]

    @property
    def num_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return int(self.labels.size)

    @classmethod
    def of(cls, seed_run: SeedRun, round_: int) -> SparseGraph:
        """Return the graph after a round of a seed; raises StoreError when there is no such round."""
        mask = seed_run.edge_mask(round_)
        title = f"{seed_run.path.parent.name}, seed {seed_run.seed}, round {round_}"
        return cls.under(graph_of(seed_run), mask, title)

    @classmethod
    def under(cls, graph: Graph, mask: EdgeMask, title: str) -> SparseGraph:
        """Return what a mask leaves of a graph; a directed mask leaves a directed graph."""
        directed = mask.kind == "directed"
        edges = graph.entries() if directed else graph.edges
        ids = graph.node_ids or [str(number) for number in range(graph.num_nodes)]
        return cls(title, directed, edges[:, np.flatnonzero(mask.keep)], ids, graph.labels, graph.class_names)

    def mask(self, graph: Graph) -> EdgeMask:
        """Return which entries of the unpruned `graph` these edges are: `under` the other way round.

        Raises DataError when an edge is none of that graph's.
        """
        size = (graph.num_nodes, graph.num_nodes)
        if self.num_nodes == graph.num_nodes:
            ones = np.ones(self.edges.shape[1], dtype=np.int8)
            held = csr_array((ones, tuple(self.edges)), shape=size)
            source, target = graph.entries() if self.directed else graph.edges
            keep = np.asarray(held[source, target]).ravel() != 0
            if int(keep.sum()) == self.edges.shape[1]:
                return EdgeMask("directed" if self.directed else "undirected", keep)
        raise DataError(f"{self.title} is not a part of {graph.name} as it is here: it was made on another version.")

    def classes(self) -> list[str]:
        """Return the class of every node by name, by number where classes have none, "" where it is unknown."""
        names = self.class_names or [str(number) for number in range(int(self.labels.max(initial=-1)) + 1)]
        return [names[label] if label >= 0 else "" for label in self.labels]
