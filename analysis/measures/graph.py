"""The graph as a measure sees it: nodes, undirected edges and labels, with what several measures share."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from analysis.measures.bfs import Distances, all_distances, sampled_distances
from analysis.measures.triangle_counts import count_triangles
from glt.data.graph import Graph, IntArray, networkx_graph
from glt.masks import BoolArray

if TYPE_CHECKING:
    import networkx as nx

# Beyond so many nodes times nodes and edges, what asks for paths from all nodes is estimated. PubMed has 1.3e9, an
# eighth of ogbn-arxiv 3.5e9.
MOST_VISITS = 2_000_000_000


@dataclass(frozen=True, eq=False)
class MeasuredGraph:
    """N nodes, [2, M] undirected simple edges (low, high) and [N] labels (-1 unknown); isolated nodes stay.

    `source` is the graph of which this one is what pruning left, on the same nodes, and `kept` its edges that stayed.
    """

    num_nodes: int
    edges: IntArray
    labels: IntArray
    source: MeasuredGraph | None = None
    kept: BoolArray | None = None

    @classmethod
    def of(cls, graph: Graph, kept: BoolArray | None = None) -> MeasuredGraph:
        """Return the graph with only the `kept` [E] undirected edges (all of them by default), on all its nodes."""
        whole = cls._whole(graph)
        return whole if kept is None else whole.keeping(kept)

    @classmethod
    @lru_cache(maxsize=4)
    def _whole(cls, graph: Graph) -> MeasuredGraph:
        return cls(graph.num_nodes, graph.edges, graph.labels)

    def keeping(self, kept: BoolArray) -> MeasuredGraph:
        """Return what is left when only the `kept` [M] edges are, with this graph as its original."""
        return MeasuredGraph(self.num_nodes, self.edges[:, kept], self.labels, source=self, kept=kept)

    @property
    def original(self) -> MeasuredGraph:
        """The graph before pruning; this graph itself when nothing says that it was pruned."""
        return self if self.source is None else self.source

    @property
    def is_large(self) -> bool:
        """Whether paths are followed from some of the nodes only; a pruned graph is measured as its original is."""
        whole = self.original
        return whole.num_nodes * (whole.num_nodes + whole.num_edges) > MOST_VISITS

    @property
    def num_edges(self) -> int:
        """Number of undirected edges M."""
        return int(self.edges.shape[1])

    @cached_property
    def degrees(self) -> IntArray:
        """Number of neighbours of every node, [N]."""
        return np.bincount(self.edges.ravel(), minlength=self.num_nodes)

    @cached_property
    def adjacency(self) -> csr_array:
        """The symmetric [N, N] adjacency matrix of zeros and ones, sparse."""
        rows, columns = np.concatenate([self.edges, self.edges[::-1]], axis=1)
        ones = np.ones(rows.size, dtype=np.int8)
        return csr_array((ones, (rows, columns)), shape=(self.num_nodes, self.num_nodes))

    @cached_property
    def component(self) -> IntArray:
        """Number of the connected component of every node, [N], counted from 0 by their lowest nodes."""
        # Imported when it is needed, as in glt.data.link_split.
        from scipy.sparse.csgraph import connected_components

        return np.asarray(connected_components(self.adjacency, directed=False)[1], dtype=np.int64)

    @cached_property
    def largest_component(self) -> IntArray:
        """The nodes of the largest component, rising; of equally large ones, the one with the lowest node."""
        sizes = np.bincount(self.component, minlength=1)
        return np.flatnonzero(self.component == sizes.argmax())

    @property
    def connected_pairs(self) -> int:
        """How many ordered pairs of different nodes a path connects."""
        sizes = np.bincount(self.component, minlength=1)
        return int((sizes * (sizes - 1)).sum())

    @cached_property
    def distances(self) -> Distances:
        """Shortest paths between all pairs, summed up, of a large graph an estimate: the slow part of many measures."""
        indptr, indices = self.adjacency.indptr, self.adjacency.indices
        return (
            sampled_distances(indptr, indices, self.connected_pairs)
            if self.is_large
            else all_distances(indptr, indices)
        )

    def with_distances(self, distances: Distances) -> MeasuredGraph:
        """Return this graph as one with other sums of distances, to see what a measure makes of them."""
        other = replace(self)
        other.__dict__["distances"] = distances
        return other

    @cached_property
    def triangles(self) -> IntArray:
        """Number of triangles at every node, [N]."""
        return count_triangles(self.edges, self.degrees)

    def to_networkx(self) -> nx.Graph:
        """Return the graph as NetworkX's, nodes 0 to N - 1 in this order, isolated ones included.

        >>> edges, labels = np.array([[0, 1], [1, 2]]), np.zeros(4, dtype=np.int64)
        >>> print(MeasuredGraph(4, edges, labels).to_networkx())
        Graph with 4 nodes and 2 edges
        """
        return networkx_graph(self.num_nodes, self.edges)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) over the number of nodes, the edge set and the labels: equal graphs, equal hash.

        What is left of a large graph is hashed by its original and a bit an edge, for every round of every seed asks.
        """
        if self.is_large and self.source is not None and self.kept is not None:
            bits = np.packbits(self.kept).tobytes()
            return hashlib.sha256(self.source.content_hash.encode() + bits).hexdigest()
        digest = hashlib.sha256(str(self.num_nodes).encode())
        for part in (self.edges, self.labels):
            digest.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
        return digest.hexdigest()
