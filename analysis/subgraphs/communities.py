"""Communities of a graph."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from analysis.subgraphs.growing import Neighbours, grow
from analysis.subgraphs.igraph_random import seeded_igraph
from glt.data.graph import Graph, IntArray
from glt.masks import BoolArray

# Of a graph with more edges only the surroundings of a node are parted, so many nodes of them.
MOST_EDGES, SURROUNDINGS = 300_000, 20_000


@lru_cache(maxsize=4)
def find_communities(graph: Graph) -> IntArray:
    """Return the community of every node, [N], by multilevel modularity (Blondel et al. 2008); always the same."""
    return _parted(graph.num_nodes, graph.edges)


def community_of(graph: Graph, node: int) -> BoolArray:
    """Return which nodes, [N], lie in the community of one; of a large graph, in that among the nodes nearest to it."""
    if graph.num_edges <= MOST_EDGES:
        groups = find_communities(graph)
        return np.asarray(groups == groups[node])
    near = np.sort(grow(Neighbours.of(graph), np.array([node]), SURROUNDINGS, np.random.default_rng(0)))
    place = np.full(graph.num_nodes, -1, dtype=np.int64)
    place[near] = np.arange(near.size)
    ends = place[graph.edges]
    groups = _parted(near.size, ends[:, (ends >= 0).all(axis=0)])
    inside = np.zeros(graph.num_nodes, dtype=np.bool_)
    inside[near[groups == groups[place[node]]]] = True
    return inside


def _parted(nodes: int, edges: IntArray) -> IntArray:
    import igraph

    whole = igraph.Graph(n=nodes, edges=edges.T.tolist())
    with seeded_igraph(0):
        return np.array(whole.community_multilevel().membership, dtype=np.int64)
