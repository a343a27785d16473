"""Centrality: PageRank, betweenness of nodes and edges, and rank correlations with the original graph.

igraph computes betweenness in batches of sources, between which progress is reported. Values are NetworkX's
(normalised, end points not counted): exact ones from all nodes (Brandes, 2001), sampled ones from k of them, scaled up
(Brandes and Pich, 2007), like NetworkX's argument `k`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from analysis.measures import MEASURES, Measure
from analysis.measures.graph import FloatArray, MeasuredGraph
from glt.datasets.graph import IntArray
from glt.formats import count

# Power iteration gives nodes with equal PageRank different last digits; rounded to these decimals they tie.
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

    1 for an unpruned graph. Isolated nodes tie at the lowest rank. NaN when all nodes of one of the two graphs tie.
    """
    return spearman(_importance(graph.original), _importance(graph))


def degree_spearman(graph: MeasuredGraph) -> float:
    """Spearman correlation of the nodes' degrees with those in the original graph, over all nodes; NaN as PageRank's.

    Random pruning lowers it as well: compare with random graphs of equal density.
    """
    return spearman(graph.original.degrees.astype(np.float64), graph.degrees.astype(np.float64))


def pagerank(graph: MeasuredGraph) -> FloatArray:
    """Return PageRank (Page et al., 1999) of every node, [N], with sum 1, as in NetworkX: damping .85.

    Isolated nodes jump to any node. Power iteration until the values change by at most 1e-12 in sum.
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
    """Return the tie group of each value, [n], 0 for the smallest, -1 for NaN.

    Neighbours in sorted order tie where they differ by at most TIE of the larger one, that is by rounding.

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
    """Return the rank of each value, [n], 1 for the largest; ties share their best rank, NaN stays NaN.

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
    """Return the Spearman correlation, ties at their mean rank; NaN when one side has only ties.

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
    """Betweenness of the [N] nodes and the [M] edges.

    `sources` is the number of nodes that shortest paths start from, `by_networkx` whether NetworkX computed the values.
    With a single source, the source's own value is NaN.
    """

    nodes: FloatArray
    edges: FloatArray
    sources: int
    by_networkx: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether every node was a source."""
        return self.sources == self.nodes.size

    def precision_words(self) -> str:
        """Return a sentence on the precision: exact or estimated."""
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
    nodes, edges = np.zeros(n), np.zeros(m)
    size = max(1, BATCH // max(n + m, 1))
    for first in range(0, sources.size, size):
        batch = sources[first : first + size].tolist()
        nodes += subject.betweenness(directed=False, sources=batch)
        edges += subject.edge_betweenness(directed=False, sources=batch)
        if on_progress is not None:
            on_progress((first + len(batch)) / sources.size)
    # igraph counts every pair once, NetworkX counts ordered pairs.
    return Betweenness(2 * nodes / _pairs(n, sources), 2 * edges / max(sources.size * (n - 1), 1), sources.size)


def seconds(graph: MeasuredGraph, sample: int | None = None) -> float:
    """Estimate the CPU seconds of `betweenness`."""
    return SECONDS_A_VISIT * (graph.num_nodes + graph.num_edges) * _sources(graph.num_nodes, sample).size


def _pairs(n: int, sources: IntArray) -> FloatArray:
    """Return the number of (source, target) pairs without each node, NetworkX's divisor.

    A source has one source fewer than other nodes; NaN where none is left.
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


for name, label, order, compute in (
    ("pagerank_spearman", "PageRank order kept (Spearman)", 60, pagerank_spearman),
    ("degree_spearman", "Degree order kept (Spearman)", 61, degree_spearman),
):
    MEASURES.register(Measure(name, label, "", "instant", order, compute, against_original=True))
