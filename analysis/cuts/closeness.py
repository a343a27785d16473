"""How much the two ends of an edge have in common: neighbours, and features by count or, of dense ones, by angle."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt.data.graph import Graph, IntArray
from glt.masks import BoolArray

Shares = NDArray[np.float64]


class Closeness:
    """Common neighbours and features of pairs of nodes of one graph.

    Sparse features are words that a node has or lacks. Dense ones, which may lie in a file, are compared by their
    cosine, and only the rows of the nodes that are asked for are read.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @property
    def counts_words(self) -> bool:
        """Whether features are there or not, so that shared ones can be counted."""
        return isinstance(self._graph.features, csr_array)

    def alike(self, node: int, others: IntArray) -> dict[str, NDArray[Any]]:
        """Return what tells how alike the features of a node and each of `others` are, by name of the column."""
        if not self.counts_words:
            return {"cosine": self.cosine(node, others)}
        return {"common_features": self.common_features(node, others), "jaccard": self.jaccard(node, others)}

    def cosine(self, node: int, others: IntArray) -> Shares:
        """Return the cosine of dense features with those of each of `others`, 0 where either has only zeros."""
        rows = np.asarray(self._graph.features[np.append(others, node)], dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1)
        product = lengths[:-1] * lengths[-1]
        return np.asarray(np.divide(rows[:-1] @ rows[-1], product, out=np.zeros(others.size), where=product > 0))

    @cached_property
    def features(self) -> csr_array:
        """Which features of each node are not zero, [N, F] of zeros and ones."""
        values = self._graph.sparse_features.copy()
        values.data = (values.data != 0).astype(np.int64)
        return values.astype(np.int64)

    @cached_property
    def features_set(self) -> IntArray:
        """How many features of each node are not zero, [N]."""
        return np.asarray(self.features.sum(axis=1), dtype=np.int64).ravel()

    @cached_property
    def jaccard_of_edges(self) -> Shares:
        """The Jaccard index of the features of both ends of every edge, [E] in edge order, ascending when sorted."""
        low, high = self._graph.edges
        shared = np.asarray(self.features[low].multiply(self.features[high]).sum(axis=1)).ravel()
        return self._jaccard(shared, low, high)

    def common_features(self, node: int, others: IntArray) -> IntArray:
        """Return how many features a node shares with each of `others`."""
        return np.asarray((self.features[others] @ self.features[[node]].T).toarray(), dtype=np.int64).ravel()

    def jaccard(self, node: int, others: IntArray) -> Shares:
        """Return shared features by features that either has, 0 where neither has any."""
        nodes = np.full(others.size, node)
        return self._jaccard(self.common_features(node, others), nodes, others)

    def common_neighbours(self, node: int, others: IntArray, kept: BoolArray | None = None) -> IntArray:
        """Return how many neighbours a node shares with each of `others`, over the `kept` [E] edges or all."""
        edges = self._graph.edges if kept is None else self._graph.edges[:, kept]
        low, high = edges
        beside = np.zeros(self._graph.num_nodes, dtype=np.bool_)
        beside[high[low == node]] = beside[low[high == node]] = True
        # Every edge into the neighbourhood counts for its other end.
        ends = np.concatenate([low[beside[high]], high[beside[low]]])
        return np.bincount(ends, minlength=self._graph.num_nodes)[others]

    def _jaccard(self, shared: IntArray, one: IntArray, other: IntArray) -> Shares:
        either = self.features_set[one] + self.features_set[other] - shared
        return np.asarray(np.divide(shared, either, out=np.zeros(shared.size), where=either > 0))
