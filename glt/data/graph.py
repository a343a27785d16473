"""Graph: undirected simple edges, node features, labels and a split, with where they came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Provenance:
    """Where a graph came from and what was dropped on the way to simple undirected edges."""

    source: str
    raw_rows: int
    duplicates_dropped: int
    self_loops_dropped: int


@dataclass(frozen=True, eq=False)
class Split:
    """Node indices (sorted, disjoint) for training, validation and test."""

    train: IntArray
    val: IntArray
    test: IntArray


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected simple graph with node features.

    `edges` is [2, E] with edges[0] < edges[1], in lexicographic order, no repeats. `features` is [N, F] float32,
    as read (models normalise rows). `labels` is [N], -1 where unknown. Isolated nodes and all-zero rows stay.
    """

    name: str
    edges: IntArray
    features: csr_array
    labels: IntArray
    split: Split
    provenance: Provenance
    class_names: tuple[str, ...] = ()
    node_ids: tuple[str, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        low, high = self.edges
        inside = not self.num_edges or (low.min() >= 0 and high.max() < self.num_nodes)
        rising = (low < high).all() and (np.diff(low * self.num_nodes + high) > 0).all()
        if not (inside and rising):
            raise ValueError("edges must be sorted pairs i < j without repeats, inside the graph")
        if self.features.shape[0] != self.num_nodes:
            raise ValueError(f"{self.features.shape[0]} feature rows for {self.num_nodes} nodes")

    @property
    def num_nodes(self) -> int:
        """Number of nodes N, isolated ones included."""
        return int(self.labels.size)

    @property
    def num_edges(self) -> int:
        """Number of undirected edges E."""
        return int(self.edges.shape[1])

    @property
    def num_features(self) -> int:
        """Number of feature columns F."""
        return int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        """Number of classes C (the highest label plus one)."""
        return int(self.labels.max()) + 1

    def entries(self) -> IntArray:
        """Return the [2, 2E] directed entries (source, target) in the order of a directed EdgeMask."""
        return np.concatenate([self.edges, self.edges[::-1]], axis=1)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) over edges, features, labels and split: equal content, equal hash."""
        digest = hashlib.sha256()
        parts = (self.edges, self.features.indptr, self.features.indices, self.features.data, self.labels)
        for part in (*parts, self.split.train, self.split.val, self.split.test):
            wide = part.astype(np.float32 if part.dtype.kind == "f" else np.int64)
            digest.update(f"{wide.dtype}{wide.shape}".encode())
            digest.update(np.ascontiguousarray(wide).tobytes())
        return digest.hexdigest()


def simple_edges(pairs: IntArray, num_nodes: int) -> tuple[IntArray, int, int]:
    """Return sorted undirected simple edges [2, E] from raw [2, R] pairs, with duplicates and self-loops dropped.

    A pair listed in both directions counts as one duplicate.

    >>> simple_edges(np.array([[0, 1, 2, 2], [1, 0, 2, 0]]), 3)[0].tolist()
    [[0, 0], [1, 2]]
    """
    low, high = np.minimum(*pairs), np.maximum(*pairs)
    loops = low == high
    codes = np.unique(low[~loops] * num_nodes + high[~loops])
    edges = np.stack([codes // num_nodes, codes % num_nodes]).astype(np.int64)
    return edges, int((~loops).sum()) - codes.size, int(loops.sum())
