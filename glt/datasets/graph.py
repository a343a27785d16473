"""Graph: undirected simple edges, features, labels or targets, split and provenance."""

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
    """Numbers of nodes and undirected edges E, and widths of inputs and outputs.

    `trained` counts the nodes in the loss, 0 unless known to be few.
    """

    nodes: int
    edges: int
    features: int
    outputs: int
    edge_features: int = 0
    trained: int = 0


@dataclass(frozen=True)
class Provenance:
    """The source of a graph, and what was dropped to make its edges simple."""

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
    """Edges [2, .] for training, validation and test, and negatives for the last two."""

    train: IntArray
    val: IntArray
    test: IntArray
    val_negatives: IntArray
    test_negatives: IntArray


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected simple graph with node features.

    `edges` is [2, E] with edges[0] < edges[1], in lexicographic order, no repeats. `features` is [N, F] float32:
    sparse (bags of words, whose rows are normalised later), or dense (used as it is, perhaps mapped from a file).
    `labels` is [N], -1 where unknown. Isolated nodes and all-zero rows are kept.

    Optional: binary `targets` [N, T] replace labels in prediction, `edge_features` are [E, D], and `links` is the data
    set's own split for link prediction, whose training edges are `edges`.
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
            raise ValueError("edges must be sorted, distinct pairs i < j of nodes in the graph")
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
        """Number of classes C: the highest label plus one, or the number of names if larger."""
        return max(int(self.labels.max(initial=-1)) + 1, len(self.class_names))

    @property
    def sizes(self) -> Sizes:
        """Sizes that determine a network on this graph."""
        outputs = self.num_classes if self.targets is None else int(self.targets.shape[1])
        widths = 0 if self.edge_features is None else int(self.edge_features.shape[1])
        return Sizes(self.num_nodes, self.num_edges, self.num_features, outputs, widths)

    @property
    def sparse_features(self) -> csr_array:
        """The sparse features; raises TypeError if they are dense."""
        if not isinstance(self.features, csr_array):
            raise TypeError(f"{self.name} has dense features")
        return self.features

    def feature_counts(self) -> IntArray:
        """Return the number of nodes [F] with each feature stored; N for dense features."""
        if isinstance(self.features, csr_array):
            return np.bincount(self.features.indices, minlength=self.num_features)
        return np.full(self.num_features, self.num_nodes)

    def nodes_with_features(self) -> int:
        """Return the number of nodes with features that are not all zero; N for dense features."""
        if isinstance(self.features, csr_array):
            return int((np.diff(self.features.indptr) > 0).sum())
        return self.num_nodes

    def entries(self) -> IntArray:
        """Return the [2, 2E] directed entries (source, target) in the order of a directed EdgeMask."""
        return np.concatenate([self.edges, self.edges[::-1]], axis=1)

    def to_networkx(self, kept: NDArray[np.bool_] | None = None) -> nx.Graph:
        """Return a NetworkX graph with all nodes and the `kept` [E] edges (default: all).

        Nodes are 0 to N - 1 with the attributes `id` (the data set's node id, or the number), `label` (class index or
        None) and `class` (class name or None). Features are omitted.
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
        """SHA-256 (hex) of edges, features, labels, split and optional parts."""
        digest = hashlib.sha256()
        for part in self._parts():
            wide = np.ascontiguousarray(part, dtype=np.float32 if part.dtype.kind == "f" else np.int64)
            digest.update(f"{wide.dtype}{wide.shape}".encode())
            digest.update(wide.data)
        return digest.hexdigest()

    def has_content(self, recorded: str) -> bool:
        """Return whether a recorded hash is of this content.

        Earlier versions gave nodes of unknown class the class 0, also in parts of a data set such as training edges.
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
    # Imported late: it takes a third of a second.
    import networkx as nx

    graph = nx.empty_graph(num_nodes)
    graph.add_edges_from(edges.T.tolist())
    graph.name = name
    return graph


def simple_edges(pairs: IntArray, num_nodes: int) -> tuple[IntArray, int, int]:
    """Return sorted simple edges [2, E] of raw pairs [2, R], and dropped duplicates and self-loops.

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
    """Return the first raw row [E] that lists each of the `simple_edges`, in either direction.

    >>> first_rows(np.array([[0, 1, 2, 2], [1, 0, 2, 0]]), 3).tolist()
    [0, 3]
    """
    low, high = np.minimum(*pairs), np.maximum(*pairs)
    codes, first = np.unique(low * num_nodes + high, return_index=True)
    rows: IntArray = first[codes // num_nodes != codes % num_nodes].astype(np.int64)
    return rows
