"""Growing a set of nodes ring by ring along the edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from glt.data.graph import Graph, IntArray
from glt.masks import BoolArray


@dataclass(frozen=True, eq=False)
class Neighbours:
    """All neighbours of all nodes, one after the other: those of `node` lie from first[node] to first[node + 1]."""

    first: IntArray
    nodes: IntArray

    @staticmethod
    @lru_cache(maxsize=4)
    def of(graph: Graph) -> Neighbours:
        """Return the neighbours in the whole graph, found once."""
        return Neighbours.over(graph.edges, graph.num_nodes)

    @classmethod
    def over(cls, edges: IntArray, num_nodes: int) -> Neighbours:
        """Return the neighbours over some undirected edges, [2, m], of a graph."""
        source, target = np.concatenate([edges, edges[::-1]], axis=1)
        matrix = csr_array((np.ones(source.size, dtype=np.int8), (source, target)), shape=(num_nodes, num_nodes))
        matrix.sort_indices()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))

    def of_node(self, node: int) -> IntArray:
        """Return the neighbours of one node in ascending order."""
        return self.nodes[self.first[node] : self.first[node + 1]]

    def of_nodes(self, nodes: IntArray) -> IntArray:
        """Return the nodes next to any of `nodes`, each once, in ascending order."""
        return np.unique(np.concatenate([self.of_node(int(node)) for node in nodes] or [np.empty(0, dtype=np.int64)]))


def grow(
    neighbours: Neighbours, start: IntArray, size: int, generator: Generator, inside: BoolArray | None = None
) -> IntArray:
    """Return `start` and the rings around it until `size` nodes are found or none is left in reach.

    Only nodes where `inside` [N] is true are taken; of a ring that does not fit whole, a random part.
    """
    free = np.ones(neighbours.first.size - 1, dtype=np.bool_) if inside is None else inside.copy()
    found, ring = start[:size], start
    free[found] = False
    while ring.size and found.size < size:
        ring = neighbours.of_nodes(ring)
        ring = ring[free[ring]]
        if ring.size > size - found.size:
            ring = generator.choice(ring, size - found.size, replace=False)
        free[ring] = False
        found = np.concatenate([found, ring])
    return found


def fill(neighbours: Neighbours, start: int, size: int, generator: Generator, inside: BoolArray) -> IntArray:
    """Grow inside a set of nodes, going on from a random other one of them whenever a component is used up."""
    free = inside.copy()
    found = grow(neighbours, np.array([start]), size, generator, free)
    free[found] = False
    while found.size < size and free.any():
        again = generator.choice(np.flatnonzero(free))
        piece = grow(neighbours, np.array([again]), size - found.size, generator, free)
        free[piece] = False
        found = np.concatenate([found, piece])
    return found
