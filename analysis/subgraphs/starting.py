"""Where a sample starts when nobody says where."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from glt.data.graph import Graph, IntArray


def random_start(graph: Graph, generator: Generator, label: int | None, size: int = 1) -> int:
    """Return an end of a random edge (so rather a hub), inside a class when `label` names one.

    Without a class it lies in a component of at least `size` nodes, or in the largest where none has so many.
    """
    ends = graph.edges.ravel()
    nodes = np.arange(graph.num_nodes)
    if label is not None:
        ends, nodes = ends[graph.labels[ends] == label], nodes[graph.labels == label]
    start = int(generator.choice(ends if ends.size else nodes))
    if label is not None or not ends.size:
        return start
    members = _component_sizes(graph)
    roomy = members >= min(size, members.max())
    return start if roomy[start] else int(generator.choice(ends[roomy[ends]]))


@lru_cache(maxsize=4)
def _component_sizes(graph: Graph) -> IntArray:
    """Return [N] how many nodes the component of each node has, found once."""
    ones = np.ones(graph.num_edges, dtype=np.int8)
    matrix = csr_array((ones, (graph.edges[0], graph.edges[1])), shape=(graph.num_nodes, graph.num_nodes))
    component = connected_components(matrix, directed=False)[1]
    return np.asarray(np.bincount(component)[component])
