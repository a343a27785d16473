"""Distances between all pairs of nodes by breadth-first search from 64 sources per machine word.

A word holds one bit for each of 64 sources; a level of all their searches is one OR over neighbours
(Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Indices = NDArray[np.integer]

WORD = 64
MOST_WORDS = 64
MOST_BYTES = 32_000_000


@dataclass(frozen=True)
class Distances:
    """Over ordered pairs of different nodes that a path connects: how many there are and the sum of their distances."""

    pairs: int
    total: int


def all_distances(indptr: Indices, indices: Indices) -> Distances:
    """Sum up the distances of an undirected graph given as a symmetric CSR structure; exact integers.

    Time grows with N / 64 times the number of edges times the diameter, memory with N (at most some 100 MB).

    >>> all_distances(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))  # the path 0 - 1 - 2
    Distances(pairs=6, total=8)
    """
    neighbours = _jagged_neighbours(indptr, indices)
    if not neighbours:
        return Distances(0, 0)
    count = neighbours[0].size
    words = min(MOST_WORDS, max(1, MOST_BYTES // (8 * count)))
    batches = [_search(neighbours, first, min(first + WORD * words, count)) for first in range(0, count, WORD * words)]
    return Distances(sum(batch.pairs for batch in batches), sum(batch.total for batch in batches))


def _jagged_neighbours(indptr: Indices, indices: Indices) -> list[NDArray[np.int64]]:
    """Renumber the nodes that have neighbours by falling degree; item k lists the k-th neighbour of all that have one.

    Item k is then a prefix of the nodes, so that a level needs no more than one indexed OR for each item.
    """
    degrees = np.diff(indptr)
    nodes = np.argsort(-degrees, kind="stable")[: np.count_nonzero(degrees)]
    rank = np.empty(degrees.size, dtype=np.int64)
    rank[nodes] = np.arange(nodes.size)
    first = indptr[:-1][nodes]
    holders = np.searchsorted(-degrees[nodes], -np.arange(degrees.max(initial=0)), side="left")
    return [rank[indices[first[:count] + k]] for k, count in enumerate(holders)]


def _search(neighbours: list[NDArray[np.int64]], first: int, last: int) -> Distances:
    """Search from the sources first .. last - 1 at once; `frontier[node]` has a bit for each source."""
    count = neighbours[0].size
    source = np.arange(last - first)
    frontier: Words = np.zeros((count, -(-source.size // WORD)), dtype=np.uint64)
    frontier[source + first, source // WORD] = np.uint64(1) << (source % WORD).astype(np.uint64)
    unseen = ~frontier
    pairs = total = distance = 0
    while True:
        distance += 1
        reached = frontier[neighbours[0]]
        for column in neighbours[1:]:
            reached[: column.size] |= frontier[column]
        reached &= unseen
        new = int(np.bitwise_count(reached).sum(dtype=np.int64))
        if not new:
            return Distances(pairs, total)
        unseen &= ~reached
        pairs, total = pairs + new, total + new * distance
        frontier = reached
