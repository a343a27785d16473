"""Sums of distances between nodes, by breadth-first search from 64 sources per machine word.

A word holds one bit for each of 64 sources; one level of all their searches is one OR over neighbours (Then et al.,
"The more the merrier: efficient multi-source graph traversal", VLDB 2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Indices = NDArray[np.integer]

WORD = 64
MOST_WORDS = 64
MOST_BYTES = 32_000_000
# Further neighbours, which only hubs have, are processed hub by hub.
COLUMNS = 128
SOURCES = 512


@dataclass(frozen=True)
class Distances:
    """The number of connected ordered pairs of different nodes, and the sum of their distances.

    Estimates come from `sources` nodes; each of `parts` is the estimate without one group of sources.
    """

    pairs: float
    total: float
    sources: int | None = None
    parts: tuple[Distances, ...] = ()


def all_distances(indptr: Indices, indices: Indices) -> Distances:
    """Return the exact distances of an undirected graph given as a symmetric CSR structure.

    Time grows with N / 64 times the number of edges times the diameter, memory with N (at most some 100 MB).

    >>> found = all_distances(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))  # the path 0 - 1 - 2
    >>> found.pairs, found.total
    (6, 8)
    """
    neighbours = _Neighbours.of(indptr, indices)
    count = neighbours.count
    if not count:
        return Distances(0, 0)
    words = min(MOST_WORDS, max(1, MOST_BYTES // (8 * count)))
    batches = [
        _search(neighbours, np.arange(first, min(first + WORD * words, count)))
        for first in range(0, count, WORD * words)
    ]
    pairs, total = np.concatenate(batches, axis=1).sum(axis=1)
    return Distances(int(pairs), int(total))


def sampled_distances(
    indptr: Indices, indices: Indices, pairs: int, sources: int = SOURCES, seed: int = 0
) -> Distances:
    """Estimate `all_distances` from `sources` nodes drawn with `seed`; exact where the graph has no more nodes.

    `pairs` is the number of connected ordered pairs, known exactly from the components; the sum of distances is `pairs`
    times the mean distance from the sources. Groups of 64 sources give the error by the jackknife, see `half_width`.
    """
    count = indptr.size - 1
    if sources >= count:
        return all_distances(indptr, indices)
    rank = _ranks(np.diff(indptr))
    drawn = rank[np.random.default_rng(seed).choice(count, size=sources, replace=False)]
    found = _search(_Neighbours.of(indptr, indices), drawn)
    whole = found.sum(axis=1)
    parts = [Distances(pairs, _total(whole - part, pairs)) for part in found.T]
    return Distances(pairs, _total(whole, pairs), sources, tuple(parts))


def _total(found: NDArray[np.int64], pairs: int) -> float:
    return pairs * float(found[1] / found[0]) if found[0] else 0.0


def half_width(distances: Distances, nodes: int, value: Callable[[Distances], float]) -> float:
    """Return the half-width of the 95 % interval of a value of estimated distances in a graph of `nodes` nodes.

    The jackknife over the groups of sources (Tukey, 1958), with Student's t and the finite population correction; 0
    for exact distances, NaN where a group gives no value.
    """
    if distances.sources is None:
        return 0.0
    from scipy.stats import t

    values = np.array([value(part) for part in distances.parts])
    groups = values.size
    variance = (groups - 1) / groups * np.square(values - values.mean()).sum() * (1 - distances.sources / nodes)
    return float(t.ppf(0.975, groups - 1) * np.sqrt(variance))


def _ranks(degrees: NDArray[np.integer]) -> NDArray[np.int64]:
    rank = np.empty(degrees.size, dtype=np.int64)
    rank[np.argsort(-degrees, kind="stable")] = np.arange(degrees.size)
    return rank


@dataclass(frozen=True, eq=False)
class _Neighbours:
    """Neighbours of the nodes that have any, renumbered by falling degree.

    Item k of `columns` lists the k-th neighbour of all nodes that have one (a prefix of the nodes), so a level needs at
    most one indexed OR per item. Further neighbours of hubs are concatenated in `rest`, each hub's starting at `first`.
    """

    columns: list[NDArray[np.int64]]
    rest: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, indptr: Indices, indices: Indices) -> _Neighbours:
        degrees = np.diff(indptr)
        nodes = np.argsort(-degrees, kind="stable")[: np.count_nonzero(degrees)]
        rank, begin, falling = _ranks(degrees), indptr[:-1][nodes], degrees[nodes]
        holders = np.searchsorted(-falling, -np.arange(min(degrees.max(initial=0), COLUMNS)), side="left")
        columns = [rank[indices[begin[:count] + k]] for k, count in enumerate(holders)]
        hubs = nodes[falling > COLUMNS]
        parts = [rank[indices[indptr[hub] + COLUMNS : indptr[hub + 1]]] for hub in hubs]
        first = np.cumsum([0, *(part.size for part in parts)])[:-1]
        return cls(columns, np.concatenate(parts) if parts else np.empty(0, dtype=np.int64), first)

    @property
    def count(self) -> int:
        """Number of nodes that have neighbours."""
        return self.columns[0].size if self.columns else 0

    def met(self, frontier: Words, nodes: NDArray[np.int64]) -> Words:
        """Return which sources are next to each of these nodes, given in rising order."""
        met = frontier[self.columns[0][nodes]]
        counts = np.searchsorted(nodes, [column.size for column in self.columns])
        for column, count in zip(self.columns[1:], counts[1:].tolist(), strict=True):
            met[:count] |= frontier[column[nodes[:count]]]
        if self.first.size:
            hubs = int(np.searchsorted(nodes, self.first.size))
            met[:hubs] |= np.bitwise_or.reduceat(frontier[self.rest], self.first, axis=0)[nodes[:hubs]]
        return met


def _search(neighbours: _Neighbours, sources: NDArray[np.int64]) -> NDArray[np.int64]:
    """Search from all sources at once and return pairs and distances of every 64 of them, [2, words].

    `frontier[node]` has a bit for each source; a source without neighbours reaches no node.
    """
    place = np.flatnonzero(sources < neighbours.count)
    frontier: Words = np.zeros((neighbours.count, -(-sources.size // WORD)), dtype=np.uint64)
    frontier[sources[place], place // WORD] = np.uint64(1) << (place % WORD).astype(np.uint64)
    found, distance = np.zeros((2, frontier.shape[1]), dtype=np.int64), 0
    unseen = ~frontier
    while True:
        distance += 1
        # Only unfinished searches matter, and most nodes are reached long before the last ones.
        unseen &= np.bitwise_or.reduce(frontier, axis=0)
        waiting = np.flatnonzero(unseen.any(axis=1))
        met = neighbours.met(frontier, waiting) & unseen[waiting] if waiting.size else frontier[:0]
        new = np.bitwise_count(met).sum(axis=0, dtype=np.int64)
        if not new.any():
            return found
        unseen[waiting] &= ~met
        found += [new, new * distance]
        frontier = np.zeros_like(frontier)
        frontier[waiting] = met
