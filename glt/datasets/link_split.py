"""Held-out edges and negatives of link prediction; components stay connected."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array

from glt.datasets.graph import Graph, IntArray, LinkSplit
from glt.errors import DataError
from glt.seeds import stream

VAL_PERCENT = 5
TEST_PERCENT = 10


class NonEdges:
    """All pairs i < j without an edge, numbered in lexicographic order but never listed."""

    def __init__(self, edges: IntArray, num_nodes: int) -> None:
        rows = np.arange(num_nodes, dtype=np.int64)
        self._starts = rows * num_nodes - rows * (rows + 1) // 2
        self.count = num_nodes * (num_nodes - 1) // 2 - edges.shape[1]
        codes = self._starts[edges[0]] + edges[1] - edges[0] - 1
        self._before = codes - np.arange(codes.size)

    def pairs(self, numbers: IntArray) -> IntArray:
        """Return the pairs [2, n] with these numbers, from 0 to count - 1.

        >>> NonEdges(np.array([[0], [2]]), 3).pairs(np.array([0, 1])).tolist()
        [[0, 1], [1, 2]]
        """
        codes = numbers + np.searchsorted(self._before, numbers, side="right")
        low = np.searchsorted(self._starts[:-1], codes, side="right") - 1
        return np.stack([low, codes - self._starts[low] + low + 1])

    def draw(self, size: int, generator: np.random.Generator) -> IntArray:
        """Draw pairs [2, size] uniformly and independently."""
        return self.pairs(generator.integers(self.count, size=size))


def held_out(num_edges: int) -> tuple[int, int]:
    """Return the numbers of edges held out for validation and test.

    >>> held_out(5278)
    (263, 527)
    """
    return num_edges * VAL_PERCENT // 100, num_edges * TEST_PERCENT // 100


@lru_cache(maxsize=16)
def split_links(graph: Graph, seed: int) -> LinkSplit:
    """Split edges 85/5/10 and draw one negative for each held-out edge; cached.

    A spanning forest stays in training, so components are kept; held-out edges are drawn uniformly among the others.
    Raises DataError if there are too few.
    """
    generator = stream(seed, 0, "link split")
    spare = np.flatnonzero(~spanning_forest(graph, generator))
    val, test = held_out(graph.num_edges)
    non_edges = NonEdges(graph.edges, graph.num_nodes)
    _check(graph, spare.size, val, test, non_edges.count)
    drawn = generator.permutation(spare)[: val + test]
    negatives = non_edges.pairs(generator.choice(non_edges.count, val + test, replace=False))
    train = np.ones(graph.num_edges, dtype=np.bool_)
    train[drawn] = False
    return LinkSplit(
        graph.edges[:, train],
        graph.edges[:, np.sort(drawn[:val])],
        graph.edges[:, np.sort(drawn[val:])],
        negatives[:, :val],
        negatives[:, val:],
    )


@lru_cache(maxsize=16)
def training_graph(graph: Graph, seed: int) -> Graph:
    """Return the graph with only the training edges of a split; cached."""
    return replace(graph, edges=split_links(graph, seed).train)


def spanning_forest(graph: Graph, generator: np.random.Generator) -> np.ndarray:
    """Mark the edges [E] of a random spanning forest, independent of the order of nodes."""
    weights = generator.permutation(graph.num_edges) + 1.0
    size = (graph.num_nodes, graph.num_nodes)
    # Imported late: it takes a tenth of a second, and every page imports this file.
    from scipy.sparse.csgraph import minimum_spanning_tree

    forest = minimum_spanning_tree(csr_array((weights, tuple(graph.edges)), shape=size))
    return np.isin(weights, forest.data)


def _check(graph: Graph, spare: int, val: int, test: int, non_edges: int) -> None:
    if not val or spare < val + test:
        raise DataError(
            f"{graph.name} has too few edges for link prediction: {spare} of {graph.num_edges} can be held out without "
            f"splitting a component, but {max(val, 1)} for validation and {max(test, 2)} for test are needed; choose a "
            "data set with more edges."
        )
    if non_edges < val + test:
        raise DataError(
            f"{graph.name} has too few pairs without an edge for link prediction: {non_edges}, but {val + test} "
            "negatives are needed; choose a sparser data set."
        )
