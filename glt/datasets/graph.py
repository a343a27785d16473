"""Graph: undirected simple edges, features, labels or binary targets and a split, with where they came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

if TYPE_CHECKING:
    import networkx as nx

IntArray = NDArray[np.int64]
DenseArray = NDArray[np.float32]


@dataclass(frozen=True)
class Sizes:
    """What decides the size of a network and of its work: nodes, undirected edges E, widths of inputs and outputs.

    `trained` nodes are those with a part in the loss, 0 where that is not known to be a few.
    """

    nodes: int
    edges: int
    features: int
    outputs: int
    edge_features: int = 0
    trained: int = 0


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
class LinkSplit:
    """Edges [2, .] for training, validation and test, and pairs without an edge to tell those of the last two from."""

    train: IntArray
    val: IntArray
    test: IntArray
    val_negatives: IntArray
    test_negatives: IntArray


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected simple graph with node features.

    `edges` is [2, E] with edges[0] < edges[1], in lexicographic order, no repeats. `features` is [N, F] float32, as
    read: sparse (bags of words, whose rows are normalised), or dense, perhaps mapped from a file, and then used as it
    is. `labels` is [N], -1 where unknown. Isolated nodes and all-zero rows stay.

    Some data sets have more: `targets` [N, T] of 0 and 1 are what is predicted in place of labels, `edge_features`
    [E, D] belong to edges, and `links` is the data set's own split for link prediction, whose training edges are
    `edges`.
    """

    name: str
    edges: IntArray
    features: csr_array | DenseArray
    labels: IntArray
    split: Split
    provenance: Provenance
    class_names: tuple[str, ...] = ()
    node_ids: tuple[str, ...] | None = field(default=None, repr=False)
    targets: NDArray[np.uint8] | None = field(default=None, repr=False)
    edge_features: DenseArray | None = field(default=None, repr=False)
    links: LinkSplit | None = field(default=None, repr=False)

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
        """Number of classes C: the highest label plus one, or as many as have names (a part may lack the last ones)."""
        return max(int(self.labels.max(initial=-1)) + 1, len(self.class_names))

    @property
    def sizes(self) -> Sizes:
        """What decides the size of a network on this graph."""
        outputs = self.num_classes if self.targets is None else int(self.targets.shape[1])
        widths = 0 if self.edge_features is None else int(self.edge_features.shape[1])
        return Sizes(self.num_nodes, self.num_edges, self.num_features, outputs, widths)

    @property
    def sparse_features(self) -> csr_array:
        """The features of a graph that has sparse ones; raises TypeError where they are dense."""
        if not isinstance(self.features, csr_array):
            raise TypeError(f"{self.name} has dense features")
        return self.features

    def feature_counts(self) -> IntArray:
        """Return how many nodes have each feature [F]: values that are not stored, or all where features are dense."""
        if isinstance(self.features, csr_array):
            return np.bincount(self.features.indices, minlength=self.num_features)
        return np.full(self.num_features, self.num_nodes)

    def nodes_with_features(self) -> int:
        """Return the number of nodes whose features are not all zero; all of them where features are dense."""
        if isinstance(self.features, csr_array):
            return int((np.diff(self.features.indptr) > 0).sum())
        return self.num_nodes

    def entries(self) -> IntArray:
        """Return the [2, 2E] directed entries (source, target) in the order of a directed EdgeMask."""
        return np.concatenate([self.edges, self.edges[::-1]], axis=1)

    def to_networkx(self, kept: NDArray[np.bool_] | None = None) -> nx.Graph:
        """Return a NetworkX graph with all nodes and the `kept` [E] edges (default: all).

        Nodes are 0 to N - 1. Each has the attributes `id` (the data set's own name of the node, or its number),
        `label` (class index, None where unknown) and `class` (name of the class, None where unknown). Features are
        left out.
        """
        graph = networkx_graph(self.num_nodes, self.edges if kept is None else self.edges[:, kept], self.name)
        for node, label in enumerate(self.labels.tolist()):
            known = label >= 0
            named = known and label < len(self.class_names)
            graph.nodes[node].update(
                {
                    "id": str(node) if self.node_ids is None else self.node_ids[node],
                    "label": label if known else None,
                    "class": self.class_names[label] if named else None,
                }
            )
        return graph

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) over edges, features, labels and split, and what else there is: equal content, equal hash."""
        digest = hashlib.sha256()
        for part in self._parts():
            wide = np.ascontiguousarray(part, dtype=np.float32 if part.dtype.kind == "f" else np.int64)
            digest.update(f"{wide.dtype}{wide.shape}".encode())
            digest.update(wide.data)
        return digest.hexdigest()

    def has_content(self, recorded: str) -> bool:
        """Say whether a recorded hash is of this content; earlier versions gave nodes of unknown class the class 0.

        It concerns parts of a data set too, such as the training edges of link prediction, whose hashes none lists.
        """
        return recorded == self.content_hash or (
            bool((self.labels < 0).any()) and recorded == replace(self, labels=np.maximum(self.labels, 0)).content_hash
        )

    def _parts(self) -> list[NDArray[Any]]:
        features = self.features
        stored = [features.indptr, features.indices, features.data] if isinstance(features, csr_array) else [features]
        known = [self.edges, *stored, self.labels, self.split.train, self.split.val, self.split.test]
        known += [part for part in (self.targets, self.edge_features) if part is not None]
        return known + ([] if self.links is None else list(vars(self.links).values()))


def networkx_graph(num_nodes: int, edges: IntArray, name: str = "") -> nx.Graph:
    """Return an undirected NetworkX graph with the nodes 0 to `num_nodes` - 1 and the [2, E] `edges`.

    >>> sorted(networkx_graph(3, np.array([[0], [2]])).edges)
    [(0, 2)]
    """
    # Loaded for this alone: a third of a second that training and pages do without.
    import networkx as nx

    graph = nx.empty_graph(num_nodes)
    graph.add_edges_from(edges.T.tolist())
    graph.name = name
    return graph


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


def first_rows(pairs: IntArray, num_nodes: int) -> IntArray:
    """Return for each of the `simple_edges` [E] of raw [2, R] pairs the first row that lists it, either way round.

    >>> first_rows(np.array([[0, 1, 2, 2], [1, 0, 2, 0]]), 3).tolist()
    [0, 3]
    """
    low, high = np.minimum(*pairs), np.maximum(*pairs)
    codes, first = np.unique(low * num_nodes + high, return_index=True)
    rows: IntArray = first[codes // num_nodes != codes % num_nodes].astype(np.int64)
    return rows
