"""What a graph knows of its nodes, edges and links beside its structure, as tensors of a ticket file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt.data import Graph
from glt.data.graph import LinkSplit

Array = NDArray[Any]
DENSE, TARGETS, EDGE_FEATURES = "features.dense", "targets", "edge_features"
# What an index of SciPy can count.
MOST = int(np.iinfo(np.int64).max)
SPARSE = ("features.rows", "features.columns", "features.values", "features.shape")
# Its training part is the file's edges.
LINKS = ("val", "test", "val_negatives", "test_negatives")


def node_arrays(graph: Graph) -> dict[str, Array]:
    """Return features, sparse or dense, and what only some graphs have: targets, edge features, a split of links."""
    arrays: dict[str, Array] = _features(graph)
    if graph.targets is not None:
        arrays[TARGETS] = graph.targets
    if graph.edge_features is not None:
        arrays[EDGE_FEATURES] = graph.edge_features
    if graph.links is not None:
        arrays |= {f"links.{part}": getattr(graph.links, part) for part in LINKS}
    return arrays


def _features(graph: Graph) -> dict[str, Array]:
    if not isinstance(graph.features, csr_array):
        return {DENSE: graph.features}
    features = graph.features
    shape = np.asarray(features.shape, dtype=np.int64)
    rows, columns = features.indptr.astype(np.int64), features.indices.astype(np.int32)
    return dict(zip(SPARSE, (rows, columns, features.data.astype(np.float32), shape), strict=True))


def node_parts(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return what a Graph takes of these tensors; raises ValueError for any that do not fit its nodes and edges."""
    nodes, edges = arrays["labels"].size, arrays["edges"].shape[1]
    return {
        "features": _table(DENSE, arrays, nodes) if DENSE in arrays else _sparse(arrays),
        "targets": _targets(arrays, nodes),
        "edge_features": _table(EDGE_FEATURES, arrays, edges) if EDGE_FEATURES in arrays else None,
        "links": _links(arrays, nodes),
    }


def _sparse(arrays: Mapping[str, Array]) -> csr_array:
    parts = tuple(arrays[f"features.{part}"] for part in ("values", "columns", "rows"))
    features = csr_array(parts, shape=_shape(arrays["features.shape"]))
    # Compiled code that multiplies trusts these numbers.
    features.check_format(full_check=True)
    return features


def _shape(written: Array) -> tuple[int, int]:
    if written.shape != (2,) or written.dtype.kind not in "iu" or not 0 <= written.min() <= written.max() <= MOST:
        raise ValueError(f"{SPARSE[-1]} is not a number of rows and one of columns")
    rows, columns = written.tolist()
    return rows, columns


def _table(name: str, arrays: Mapping[str, Array], rows: int) -> Array:
    values = arrays[name]
    if values.ndim != 2 or values.shape[0] != rows or values.dtype.kind != "f":
        raise ValueError(f"{name} is {list(values.shape)}, where it must have {rows} rows of numbers")
    return values.astype(np.float32)


def _targets(arrays: Mapping[str, Array], nodes: int) -> Array | None:
    if TARGETS not in arrays:
        return None
    targets = arrays[TARGETS]
    if targets.ndim != 2 or targets.shape[0] != nodes or not np.isin(targets, (0, 1)).all():
        raise ValueError(f"{TARGETS} is {list(targets.shape)}, where it must have {nodes} rows of 0 and 1")
    return targets.astype(np.uint8)


def _links(arrays: Mapping[str, Array], nodes: int) -> LinkSplit | None:
    held = [arrays[f"links.{part}"] for part in LINKS if f"links.{part}" in arrays]
    if not held:
        return None
    if len(held) != len(LINKS) or any(pairs.ndim != 2 or pairs.shape[0] != 2 for pairs in held):
        raise ValueError("its split of links is not four lists of pairs")
    return LinkSplit(arrays["edges"].astype(np.int64), *(known_nodes(pairs, nodes) for pairs in held))


def known_nodes(nodes: Array, count: int) -> Array:
    """Return node numbers as integers; raises ValueError for those of no node."""
    if nodes.size and not (nodes.min() >= 0 and nodes.max() < count):
        raise ValueError("its split names nodes that are not in the graph")
    return nodes.astype(np.int64)
