"""What tells a graph from others in a cache."""

from __future__ import annotations

from functools import lru_cache

from scipy.sparse import csr_array

from analysis.measures.graph import MeasuredGraph
from glt.data import Graph


@lru_cache(maxsize=16)
def graph_key(graph: Graph) -> str:
    """Return the hash of a graph's content, or one that leaves out dense features, which may lie in a file."""
    if isinstance(graph.features, csr_array):
        return graph.content_hash
    return f"{graph.name} {MeasuredGraph.of(graph).content_hash}"
