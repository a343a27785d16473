"""Communities of a graph."""

from __future__ import annotations

import numpy as np

from analysis.subgraphs.igraph_random import seeded_igraph
from glt.data.graph import Graph, IntArray


def find_communities(graph: Graph) -> IntArray:
    """Return the community of every node, [N], by multilevel modularity (Blondel et al. 2008); always the same."""
    import igraph

    whole = igraph.Graph(n=graph.num_nodes, edges=graph.edges.T.tolist())
    with seeded_igraph(0):
        return np.array(whole.community_multilevel().membership, dtype=np.int64)
