"""Graphs in one compact file: a compressed .npz of plain arrays, read without pickle and without torch."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt import zips
from glt.data.graph import Graph, IntArray, Provenance, Split
from glt.errors import DataError

_DAMAGE = (OSError, ValueError, KeyError, *zips.DAMAGE)


def write_graph(path: Path, graph: Graph) -> None:
    """Write `graph` to `path` whole or not at all; raises OSError. On one machine equal graphs give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **_arrays(graph))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_graph(path: Path) -> Graph:
    """Return the graph in `path`; raises DataError when the file is missing or damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _graph(dict(arrays))
    except _DAMAGE as error:
        raise DataError(f"{path} cannot be read as a graph ({error}): delete it or install again.") from error


def _arrays(graph: Graph) -> dict[str, NDArray[np.generic]]:
    features = graph.sparse_features
    values = features.data
    integers = {
        "edges": graph.edges,
        "labels": graph.labels,
        "columns": features.indices,
        "row_lengths": np.diff(features.indptr),
        "shape": np.array(features.shape),
        "train": graph.split.train,
        "val": graph.split.val,
        "test": graph.split.test,
    }
    return {
        **{name: narrow(array) for name, array in integers.items()},
        # Bags of words hold ones only: an empty array says so.
        "values": values if (values != 1).any() else values[:0],
        "about": np.frombuffer(describe(graph).encode(), dtype=np.uint8),
    }


def narrow(array: IntArray) -> NDArray[np.integer]:
    """Return whole numbers in the narrowest type that holds them all."""
    ends = (np.min_scalar_type(array.min(initial=0)), np.min_scalar_type(array.max(initial=0)))
    return array.astype(np.result_type(*ends))


def describe(graph: Graph) -> str:
    """Return what a graph has beside its arrays, as JSON."""
    about = {
        "name": graph.name,
        "class_names": graph.class_names,
        "node_ids": graph.node_ids,
        "provenance": vars(graph.provenance),
    }
    return json.dumps(about, sort_keys=True, ensure_ascii=False)


def _graph(arrays: dict[str, NDArray[np.generic]]) -> Graph:
    about = json.loads(arrays["about"].tobytes())
    ids = about["node_ids"]
    return Graph(
        name=about["name"],
        edges=wide(arrays["edges"]),
        features=_features(arrays),
        labels=wide(arrays["labels"]),
        split=Split(*(wide(arrays[part]) for part in ("train", "val", "test"))),
        provenance=Provenance(**about["provenance"]),
        class_names=tuple(about["class_names"]),
        node_ids=None if ids is None else tuple(ids),
    )


def _features(arrays: dict[str, NDArray[np.generic]]) -> csr_array:
    columns = arrays["columns"].astype(np.int32)
    values = arrays["values"].astype(np.float32)
    if not values.size:
        values = np.ones(columns.size, dtype=np.float32)
    starts = np.concatenate([[0], np.cumsum(arrays["row_lengths"], dtype=np.int64)]).astype(np.int32)
    return csr_array((values, columns, starts), shape=tuple(arrays["shape"].tolist()))


def wide(array: NDArray[np.generic]) -> IntArray:
    """Return whole numbers as graphs have them."""
    return array.astype(np.int64)
