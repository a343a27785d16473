"""Edges held out for link prediction: a split that keeps every connected component connected, and its negatives."""

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
    """All pairs i < j of a graph without an edge, numbered in lexicographic order; they are never listed."""

    def __init__(self, edges: IntArray, num_nodes: int) -> None:
        rows = np.arange(num_nodes, dtype=np.int64)
        self._starts = rows * num_nodes - rows * (rows + 1) // 2
        self.count = num_nodes * (num_nodes - 1) // 2 - edges.shape[1]
        codes = self._starts[edges[0]] + edges[1] - edges[0] - 1
        self._before = codes - np.arange(codes.size)

    def pairs(self, numbers: IntArray) -> IntArray:
        """Return the pairs [2, n] that have these numbers, each from 0 to count - 1.

        >>> NonEdges(np.array([[0], [2]]), 3).pairs(np.array([0, 1])).tolist()
        [[0, 1], [1, 2]]
        """
        codes = numbers + np.searchsorted(self._before, numbers, side="right")
        low = np.searchsorted(self._starts[:-1], codes, side="right") - 1
        return np.stack([low, codes - self._starts[low] + low + 1])

    def draw(self, size: int, generator: np.random.Generator) -> IntArray:
        """Draw pairs [2, size] uniformly, each independently of the others."""
        return self.pairs(generator.integers(self.count, size=size))


def held_out(num_edges: int) -> tuple[int, int]:
    """Return how many edges are held out for validation and for test.

    >>> held_out(5278)
    (263, 527)
    """
    return num_edges * VAL_PERCENT // 100, num_edges * TEST_PERCENT // 100


@lru_cache(maxsize=16)
def split_links(graph: Graph, seed: int) -> LinkSplit:
    """Split a graph's edges 85/5/10 and draw one pair without an edge for each edge held out; kept for the process.

    A spanning forest always stays in training, so components stay as they are; the edges held out are drawn
    uniformly among the others. Raises DataError when there are too few.
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
    """Return the graph with the training edges of a split only; features, labels and provenance stay."""
    return replace(graph, edges=split_links(graph, seed).train)


def spanning_forest(graph: Graph, generator: np.random.Generator) -> np.ndarray:
    """Mark [E] the edges of a spanning forest that depends on random weights alone, not on the nodes' order."""
    weights = generator.permutation(graph.num_edges) + 1.0
    size = (graph.num_nodes, graph.num_nodes)
    # What it needs takes a tenth of a second to import, and every page imports this file.
    from scipy.sparse.csgraph import minimum_spanning_tree

    forest = minimum_spanning_tree(csr_array((weights, tuple(graph.edges)), shape=size))
    return np.isin(weights, forest.data)


def _check(graph: Graph, spare: int, val: int, test: int, non_edges: int) -> None:
    if not val or spare < val + test:
        raise DataError(
            f"{graph.name} has too few edges to split for link prediction: of its {graph.num_edges}, {spare} can be "
            f"held out without breaking a component, and {max(val, 1)} for validation and {max(test, 2)} for test are "
            "needed; choose a data set with more edges."
        )
    if non_edges < val + test:
        raise DataError(
            f"{graph.name} has too few pairs without an edge for link prediction: {non_edges}, where {val + test} are "
            "needed as negatives; choose a sparser data set."
        )
