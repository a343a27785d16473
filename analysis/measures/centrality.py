"""Importance of nodes and edges: PageRank, betweenness of every one, and whether pruning keeps the order of nodes.

Betweenness is computed by igraph, one batch of sources at a time so that progress can be reported. Values are
NetworkX's (normalised, end points not counted). Exact values follow shortest paths from all nodes (Brandes, 2001);
sampled ones from k of them, scaled up (Brandes and Pich, 2007), as NetworkX's argument `k` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure
from glt.datasets.graph import IntArray
from glt.formats import count

FloatArray = NDArray[np.float64]

# Nodes with equal PageRank differ in the last digits of an iteration; rounded to these decimals they tie.
DECIMALS = 7
# Relative to the larger of two values.
TIE = 1e-9
DAMPING, PRECISION = 0.85, 1e-12
SAMPLE = 1024
# Visits to nodes and edges in one batch of sources; CPU seconds of one visit, measured on PubMed.
BATCH = 2_000_000
SECONDS_A_VISIT = 9e-8


def pagerank_spearman(graph: MeasuredGraph) -> float:
    """Spearman correlation of the nodes' PageRank (damping .85) with that in the original graph, over all nodes.

    1 for an unpruned graph: the order of importance is untouched. Isolated nodes tie at the lowest rank. NaN when
    all nodes of one of the two graphs tie.
    """
    return spearman(_importance(graph.original), _importance(graph))


def degree_spearman(graph: MeasuredGraph) -> float:
    """Spearman correlation of the nodes' degrees with those in the original graph, over all nodes; NaN as PageRank's.

    Random pruning lowers it as well: compare with random graphs of equal density.
    """
    return spearman(graph.original.degrees.astype(np.float64), graph.degrees.astype(np.float64))


def pagerank(graph: MeasuredGraph) -> FloatArray:
    """Return PageRank (Page et al., 1999) of every node, [N], as NetworkX's: damping .85, isolated nodes jump anywhere.

    Power iteration until the values move by at most 1e-12 in sum; they sum to 1.
    """
    n = graph.num_nodes
    isolated = graph.degrees == 0
    shares = np.where(isolated, 0.0, 1 / np.maximum(graph.degrees, 1))
    adjacency = graph.adjacency.astype(np.float64)
    found = np.full(n, 1 / max(n, 1))
    moved = 1.0
    while n and moved > PRECISION:
        before = found
        jumped = DAMPING * before[isolated].sum() + 1 - DAMPING
        found = DAMPING * (adjacency @ (shares * before)) + jumped / n
        moved = float(np.abs(found - before).sum())
    return found


def _importance(graph: MeasuredGraph) -> FloatArray:
    return np.round(graph.num_nodes * pagerank(graph), DECIMALS)


def tie_groups(values: FloatArray) -> NDArray[np.int64]:
    """Return the group of each value, [n], 0 for the smallest: values that differ by rounding alone share a group.

    Neighbours in sorted order tie where they differ by at most TIE of the larger one. NaN has the group -1.

    >>> tie_groups(np.array([0.3, 0.1 + 0.2, 0.1, 0.0])).tolist()
    [2, 2, 1, 0]
    """
    groups = np.full(values.size, -1, dtype=np.int64)
    known = np.flatnonzero(~np.isnan(values))
    if known.size:
        order = known[np.argsort(values[known], kind="stable")]
        rising = values[order]
        apart = np.diff(rising) > TIE * np.maximum(np.abs(rising[1:]), np.abs(rising[:-1]))
        groups[order] = np.concatenate([[0], np.cumsum(apart)])
    return groups


def ranks_from_the_top(values: FloatArray) -> FloatArray:
    """Return the rank of each value, [n], 1 for the largest; ties share their best rank, NaN has none (NaN).

    >>> ranks_from_the_top(np.array([0.1, 0.3, 0.1 + 0.2, 0.0])).tolist()
    [3.0, 1.0, 1.0, 4.0]
    """
    groups = tie_groups(values)
    counts = np.bincount(groups[groups >= 0])
    above = counts[::-1].cumsum()[::-1] - counts
    ranks = np.full(values.size, nan)
    ranks[groups >= 0] = 1 + above[groups[groups >= 0]]
    return ranks


def spearman(first: FloatArray, second: FloatArray) -> float:
    """Return the correlation of two orders, ties at their mean rank; NaN when one of them has only ties.

    Values tie as in `tie_groups`; pairs with a NaN are left out.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([5.0, 4.0, 0.0]))
    -1.0
    """
    both = ~(np.isnan(first) | np.isnan(second))
    ranks = _mean_ranks(first[both]), _mean_ranks(second[both])
    if any(rank.size < 2 or rank.min() == rank.max() for rank in ranks):
        return nan
    return round(float(np.corrcoef(*ranks)[0, 1]), 12)


def _mean_ranks(values: FloatArray) -> FloatArray:
    place = tie_groups(values)
    counts = np.bincount(place)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


@dataclass(frozen=True, eq=False)
class Betweenness:
    """Values of the [N] nodes and the [M] edges.

    `sources` is the number of nodes from which shortest paths were followed, `by_networkx` whether NetworkX computed
    them. With a single source, the source's own value is NaN: paths that begin at a node do not pass through it.
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
        """Return a sentence: exact or estimated, and from what."""
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

    `on_progress` is called with the fraction done; an exception that it raises stops the computation.
    """
    n, m, subject = graph.num_nodes, graph.num_edges, graph.igraph
    sources = _sources(n, sample)
    nodes, edges, done = np.zeros(n), np.zeros(m), 0
    for batch in _batches(sources, n + m):
        nodes += subject.betweenness(directed=False, sources=batch)
        edges += subject.edge_betweenness(directed=False, sources=batch)
        done += len(batch)
        if on_progress is not None:
            on_progress(done / sources.size)
    # igraph counts every pair once, NetworkX counts ordered pairs.
    return Betweenness(2 * nodes / _pairs(n, sources), 2 * edges / max(sources.size * (n - 1), 1), sources.size)


def seconds(graph: MeasuredGraph, sample: int | None = None) -> float:
    """Return the CPU seconds that `betweenness` takes, roughly."""
    return SECONDS_A_VISIT * (graph.num_nodes + graph.num_edges) * _sources(graph.num_nodes, sample).size


def _pairs(n: int, sources: IntArray) -> FloatArray:
    """Return for each node the number of (source, target) pairs without it: what NetworkX divides by.

    A node that is a source has one source fewer than the others; NaN where none is left.
    """
    if n < 3:
        return np.ones(n)
    others = np.full(n, float(sources.size))
    others[sources] -= 1
    return np.where(others > 0, others, np.nan) * (n - 2)


def _sources(nodes: int, sample: int | None) -> IntArray:
    if sample is None or sample >= nodes:
        return np.arange(nodes)
    return np.sort(np.random.default_rng(0).choice(nodes, size=sample, replace=False))


def _batches(sources: IntArray, visits: int) -> Iterator[list[int]]:
    size = max(1, BATCH // max(visits, 1))
    for first in range(0, sources.size, size):
        yield sources[first : first + size].tolist()


for name, label, order, compute in (
    ("pagerank_spearman", "PageRank order kept (Spearman)", 60, pagerank_spearman),
    ("degree_spearman", "Degree order kept (Spearman)", 61, degree_spearman),
):
    MEASURES.register(Measure(name, label, "", "instant", order, compute, against_original=True))
