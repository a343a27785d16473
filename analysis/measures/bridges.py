"""How many edges the largest component cannot lose without falling apart."""

from __future__ import annotations

from math import nan

import numpy as np
from scipy.sparse import csr_array, triu
from scipy.sparse.csgraph import dijkstra

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure
from glt.data.graph import IntArray


def bridge_share(graph: MeasuredGraph) -> float:
    """Share of the largest component's edges that are the only connection between their two sides; NaN without edges.

    Smaller pieces are left out: most are trees, all bridges, and would count once more that the graph fell apart. The
    edge of every node of degree 1 is a bridge, so a rise may only mean more such nodes.
    """
    nodes = graph.largest_component
    if nodes.size < 2:
        return nan
    inside = graph.adjacency[nodes][:, nodes]
    return count_bridges(inside) / (int(inside.nnz) // 2)


def count_bridges(adjacency: csr_array) -> int:
    """Return the number of bridges of a connected graph, from its symmetric adjacency.

    Every edge outside a spanning tree gets a random 64-bit number, added at one end and taken off at the other. The sum
    over what hangs on a tree edge is 0 if no other edge leaves it: a bridge. Otherwise it is 0 with probability 2^-64
    (Pritchard and Thurimella, 2011).

    >>> count_bridges(csr_array(np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])))
    1
    """
    depth, parent = dijkstra(adjacency, unweighted=True, indices=0, return_predecessors=True)
    low, high = triu(adjacency, format="coo").coords
    outside = (parent[low] != high) & (parent[high] != low)
    words = np.random.default_rng(0).integers(2**64, size=int(outside.sum()), dtype=np.uint64)
    sums = np.zeros(depth.size, dtype=np.uint64)
    np.add.at(sums, low[outside], words)
    np.subtract.at(sums, high[outside], words)
    _add_up(sums, parent, depth.astype(np.int64))
    return int((sums == 0)[depth > 0].sum())


def _add_up(sums: np.ndarray, parent: IntArray, depth: IntArray) -> None:
    """Add to every node of a tree the sums of what hangs on it, from the deepest level up."""
    levels = np.split(np.argsort(depth, kind="stable"), np.cumsum(np.bincount(depth))[:-1])
    for level in levels[:0:-1]:
        np.add.at(sums, parent[level], sums[level])


MEASURES.register(Measure("bridge_share", "Bridges (largest component)", "share of edges", "instant", 24, bridge_share))
