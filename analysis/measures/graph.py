"""The measured graph: nodes, undirected edges, labels and shared quantities."""

from __future__ import annotations

import gc
import hashlib
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from analysis.measures.bfs import Distances, all_distances, sampled_distances
from glt.datasets.graph import Graph, IntArray, networkx_graph
from glt.masks import BoolArray

if TYPE_CHECKING:
    import igraph
    import networkx as nx

FloatArray = NDArray[np.float64]

# Shortest paths are sampled where nodes x (nodes + edges) exceeds this: PubMed has 1.3e9, an eighth of ogbn-arxiv
# 3.5e9.
MOST_VISITS = 2_000_000_000


@dataclass(frozen=True, eq=False)
class MeasuredGraph:
    """N nodes, [2, M] undirected simple edges (low, high) and [N] labels (-1 unknown); isolated nodes stay.

    For a pruned graph, `source` is the graph before pruning and `kept` [M of source] marks its surviving edges.
    """

    num_nodes: int
    edges: IntArray
    labels: IntArray
    source: MeasuredGraph | None = None
    kept: BoolArray | None = None

    @classmethod
    def of(cls, graph: Graph, kept: BoolArray | None = None) -> MeasuredGraph:
        """Return the graph with only the `kept` [E] undirected edges (default: all), on all its nodes."""
        whole = cls._whole(graph)
        return whole if kept is None else whole.keeping(kept)

    @classmethod
    @lru_cache(maxsize=4)
    def _whole(cls, graph: Graph) -> MeasuredGraph:
        return cls(graph.num_nodes, graph.edges, graph.labels)

    def keeping(self, kept: BoolArray) -> MeasuredGraph:
        """Return this graph with its `kept` [M] edges only, and with itself as the original."""
        return MeasuredGraph(self.num_nodes, self.edges[:, kept], self.labels, source=self, kept=kept)

    @property
    def original(self) -> MeasuredGraph:
        """The graph before pruning; this graph itself where nothing was pruned."""
        return self if self.source is None else self.source

    @property
    def is_large(self) -> bool:
        """Whether shortest paths are sampled; a pruned graph follows its original."""
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
        """Connected component of every node, [N], numbered from 0 by their lowest nodes."""
        # A slow import.
        from scipy.sparse.csgraph import connected_components

        return np.asarray(connected_components(self.adjacency, directed=False)[1], dtype=np.int64)

    @cached_property
    def largest_component(self) -> IntArray:
        """The nodes of the largest component, ascending; ties go to the component with the lowest node."""
        sizes = np.bincount(self.component, minlength=1)
        return np.flatnonzero(self.component == sizes.argmax())

    @property
    def connected_pairs(self) -> int:
        """Number of ordered pairs of different nodes that a path connects."""
        sizes = np.bincount(self.component, minlength=1)
        return int((sizes * (sizes - 1)).sum())

    @cached_property
    def distances(self) -> Distances:
        """Sum of shortest-path lengths over all pairs, sampled on a large graph; slow."""
        indptr, indices = self.adjacency.indptr, self.adjacency.indices
        return (
            sampled_distances(indptr, indices, self.connected_pairs)
            if self.is_large
            else all_distances(indptr, indices)
        )

    def with_distances(self, distances: Distances) -> MeasuredGraph:
        """Return a copy of this graph with other `distances`."""
        other = replace(self)
        other.__dict__["distances"] = distances
        return other

    @cached_property
    def triangles(self) -> IntArray:
        """Number of triangles at every node, [N]: igraph's local clustering times the pairs of neighbours."""
        closed = np.array(self.igraph.transitivity_local_undirected(mode="zero"), dtype=np.float64)
        return np.rint(closed * (self.degrees * (self.degrees - 1) / 2)).astype(np.int64)

    @cached_property
    def igraph(self) -> igraph.Graph:
        """The graph as igraph's, nodes and edges in this order."""
        # igraph takes half a second to import.
        from igraph import Graph as IGraph

        # igraph makes a list for each edge, and Python's garbage collector would take three quarters of the time.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return IGraph(n=self.num_nodes, edges=np.ascontiguousarray(self.edges.T))
        finally:
            if was_enabled:
                gc.enable()

    def to_networkx(self) -> nx.Graph:
        """Return the graph as NetworkX's, with nodes 0 to N - 1 in order.

        >>> edges, labels = np.array([[0, 1], [1, 2]]), np.zeros(4, dtype=np.int64)
        >>> print(MeasuredGraph(4, edges, labels).to_networkx())
        Graph with 4 nodes and 2 edges
        """
        return networkx_graph(self.num_nodes, self.edges)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) over the number of nodes, the edges and the labels.

        For a pruned large graph, over the original's hash and one bit per edge, which is fast for every round.
        """
        if self.is_large and self.source is not None and self.kept is not None:
            bits = np.packbits(self.kept).tobytes()
            return hashlib.sha256(self.source.content_hash.encode() + bits).hexdigest()
        digest = hashlib.sha256(str(self.num_nodes).encode())
        for part in (self.edges, self.labels):
            digest.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
        return digest.hexdigest()
