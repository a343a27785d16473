"""Betweenness of every single node and edge: igraph's, a batch of sources at a time, so that it can tell how far it is.

Values are NetworkX's (normalised, end points not counted). Exact values follow shortest paths from all nodes (Brandes,
2001); sampled ones from k of them, scaled up (Brandes and Pich, 2007), as NetworkX's argument `k` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.measures.graph import MeasuredGraph
from glt.data.graph import IntArray
from glt.formats import count

FloatArray = NDArray[np.float64]

SAMPLE = 1024
# So many visits to nodes and edges make a batch; and the CPU seconds that one visit takes, measured on PubMed.
BATCH = 2_000_000
SECONDS_A_VISIT = 9e-8


@dataclass(frozen=True, eq=False)
class Betweenness:
    """Values of the [N] nodes and the [M] edges.

    `sources` is how many nodes shortest paths were followed from, `by_networkx` whether NetworkX did. With a single
    source its own value is NaN: a path that begins at a node says nothing of the node.
    """

    nodes: FloatArray
    edges: FloatArray
    sources: int
    by_networkx: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether shortest paths were followed from every node."""
        return self.sources == self.nodes.size

    def precision_words(self) -> str:
        """Say in a sentence whether the values are exact or estimated, and from what."""
        if self.by_networkx:
            return "Exact: computed by NetworkX itself."
        if self.is_exact:
            return "Exact: shortest paths from every node."
        return (
            f"Estimated: shortest paths from {count(self.sources)} of {count(self.nodes.size)} nodes drawn at random "
            "(seed 0), scaled up. Single values and ranks can be far off; the error falls with the square root of the "
            "number of sources."
        )


def betweenness(
    graph: MeasuredGraph, sample: int | None = None, on_progress: Callable[[float], None] | None = None
) -> Betweenness:
    """Return the betweenness of every node and edge, exact or from `sample` nodes drawn with seed 0.

    `on_progress` is called with the fraction done; what it raises ends the computation.
    """
    from igraph import Graph as IGraph

    n, m = graph.num_nodes, graph.num_edges
    subject = IGraph(n=n, edges=graph.edges.T.tolist())
    sources = _sources(n, sample)
    nodes, edges, done = np.zeros(n), np.zeros(m), 0
    for batch in _batches(sources, n + m):
        nodes += subject.betweenness(directed=False, sources=batch)
        edges += subject.edge_betweenness(directed=False, sources=batch)
        done += len(batch)
        if on_progress is not None:
            on_progress(done / sources.size)
    # igraph halves what it adds up, because it counts every pair once; NetworkX counts ordered pairs.
    return Betweenness(2 * nodes / _pairs(n, sources), 2 * edges / max(sources.size * (n - 1), 1), sources.size)


def _pairs(n: int, sources: IntArray) -> FloatArray:
    """Return for each node the ordered pairs of a source and a target, both other than it: what NetworkX divides by.

    A node that is a source has one source fewer than the others; NaN where none is left.
    """
    if n < 3:
        return np.ones(n)
    others = np.full(n, float(sources.size))
    others[sources] -= 1
    return np.where(others > 0, others, np.nan) * (n - 2)


def networkx_betweenness(graph: MeasuredGraph, on_progress: Callable[[float], None] | None = None) -> Betweenness:
    """Return the betweenness of every node and edge as NetworkX itself computes it, exact; slow."""
    # NetworkX takes a third of a second to import.
    from analysis.measures.networkx_engine import element_betweenness

    return Betweenness(*element_betweenness(graph, on_progress), graph.num_nodes, by_networkx=True)


def seconds(graph: MeasuredGraph, sample: int | None = None, by_networkx: bool = False) -> float:
    """Return about how much CPU time `betweenness`, or `networkx_betweenness`, takes."""
    if by_networkx:
        from analysis.measures.networkx_engine import ELEMENTS
        from analysis.measures.networkx_engine import seconds as networkx_seconds

        return networkx_seconds(graph, ELEMENTS)
    visits = graph.num_nodes + graph.num_edges
    return SECONDS_A_VISIT * visits * _sources(graph.num_nodes, sample).size


def _sources(nodes: int, sample: int | None) -> IntArray:
    if sample is None or sample >= nodes:
        return np.arange(nodes)
    return np.sort(np.random.default_rng(0).choice(nodes, size=sample, replace=False))


def _batches(sources: IntArray, visits: int) -> Iterator[list[int]]:
    size = max(1, BATCH // max(visits, 1))
    for first in range(0, sources.size, size):
        yield sources[first : first + size].tolist()
