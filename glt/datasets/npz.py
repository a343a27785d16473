"""Graphs on disk as plain arrays, without pickle: one .npz, or a folder for large graphs.

Large arrays of a folder are memory-mapped: a process that needs only the structure never loads the features, and
training processes share them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt import zip_files
from glt.datasets.graph import DenseArray, Graph, IntArray, LinkSplit, Provenance, Sizes, Split
from glt.errors import DataError

Members = dict[str, NDArray[Any]]
_STRUCTURE, _FEATURES, _EDGE_FEATURES, _SIZES = "graph.npz", "features.npy", "edge_features.npy", "sizes.json"
_HASH = "content_hash"
_SPLIT = ("train", "val", "test")
_LINKS = ("train", "val", "test", "val_negatives", "test_negatives")
_DAMAGE = (OSError, ValueError, KeyError, TypeError, *zip_files.DAMAGE)


def write_graph(path: Path, graph: Graph) -> None:
    """Write `graph` to `path` atomically; raise OSError. Equal graphs give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **_arrays(graph))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_graph(path: Path) -> Graph:
    """Return the graph in `path`; raise DataError if the file is missing or damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _graph(dict(arrays), features=_features(dict(arrays)))
    except _DAMAGE as error:
        raise DataError(
            f"{path} cannot be read as a graph ({error}): delete it, or install GLT Studio again."
        ) from error


def _arrays(graph: Graph) -> Members:
    features = graph.sparse_features
    values = features.data
    integers = {
        "edges": graph.edges,
        "labels": graph.labels,
        "columns": features.indices,
        "row_lengths": np.diff(features.indptr),
        "shape": np.array(features.shape),
        **vars(graph.split),
    }
    return {
        **{name: _narrow(array) for name, array in integers.items()},
        # An empty array stands for ones, as in bags of words.
        "values": values if (values != 1).any() else values[:0],
        "about": _about(graph),
    }


def _narrow(array: IntArray) -> NDArray[np.integer]:
    """Return integers in the narrowest type that fits."""
    ends = (np.min_scalar_type(array.min(initial=0)), np.min_scalar_type(array.max(initial=0)))
    return array.astype(np.result_type(*ends))


def _about(graph: Graph) -> NDArray[np.uint8]:
    """Return the parts of a graph that are not arrays, as JSON."""
    about = {
        "name": graph.name,
        "class_names": graph.class_names,
        "node_ids": graph.node_ids,
        "provenance": vars(graph.provenance),
    }
    return np.frombuffer(json.dumps(about, sort_keys=True, ensure_ascii=False).encode(), dtype=np.uint8)


def _graph(arrays: Members, split: str = "", **further: Any) -> Graph:
    """Return a graph of arrays and `further` parts; `split` is the prefix of the split's names."""
    about = json.loads(arrays["about"].tobytes())
    ids = about["node_ids"]
    return Graph(
        name=about["name"],
        edges=_wide(arrays["edges"]),
        labels=_wide(arrays["labels"]),
        split=Split(*(_wide(arrays[f"{split}{part}"]) for part in _SPLIT)),
        provenance=Provenance(**about["provenance"]),
        class_names=tuple(about["class_names"]),
        node_ids=None if ids is None else tuple(ids),
        **further,
    )


def _features(arrays: Members) -> csr_array:
    columns = arrays["columns"].astype(np.int32)
    values = arrays["values"].astype(np.float32)
    if not values.size:
        values = np.ones(columns.size, dtype=np.float32)
    starts = np.concatenate([[0], np.cumsum(arrays["row_lengths"], dtype=np.int64)]).astype(np.int32)
    return csr_array((values, columns, starts), shape=tuple(arrays["shape"].tolist()))


def _wide(array: NDArray[Any]) -> IntArray:
    """Return integers as int64."""
    return array.astype(np.int64)


def write_mapped(folder: Path, graph: Graph) -> None:
    """Write a `graph` with dense features to `folder` atomically; raise OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        temporary.mkdir()
        _write(temporary, graph)
        # A folder cannot replace another, so a damaged one is removed first.
        shutil.rmtree(folder, ignore_errors=True)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_mapped(folder: Path) -> Graph:
    """Return the graph in `folder`; raise DataError if it is missing or damaged."""
    try:
        with (folder / _STRUCTURE).open("rb") as file, np.load(file, allow_pickle=False) as held:
            arrays: Members = dict(held)
        return _mapped_graph(folder, arrays, sizes_of(folder))
    except _DAMAGE as error:
        raise DataError(f"{folder} cannot be read as a graph ({error}): delete it.") from error


def sizes_of(folder: Path) -> Sizes:
    """Return the sizes of the graph in `folder` without loading it; raise OSError, ValueError or TypeError."""
    return Sizes(**json.loads((folder / _SIZES).read_text(encoding="utf-8")))


def _write(folder: Path, graph: Graph) -> None:
    integers = {"edges": graph.edges, "labels": graph.labels}
    integers |= {f"split.{part}": nodes for part, nodes in vars(graph.split).items()}
    if graph.links is not None:
        integers |= {f"links.{part}": pairs for part, pairs in vars(graph.links).items()}
    arrays: Members = {name: _narrow(array) for name, array in integers.items()}
    # With its hash, a process that maps the features need not read them to check the content.
    arrays |= {"about": _about(graph), _HASH: np.frombuffer(bytes.fromhex(graph.content_hash), dtype=np.uint8)}
    if graph.targets is not None:
        arrays["targets"] = graph.targets
    with (folder / _STRUCTURE).open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    np.save(folder / _FEATURES, np.asarray(graph.features, dtype=np.float32), allow_pickle=False)
    if graph.edge_features is not None:
        np.save(folder / _EDGE_FEATURES, graph.edge_features, allow_pickle=False)
    (folder / _SIZES).write_text(json.dumps(vars(graph.sizes)), encoding="utf-8")


def _mapped_graph(folder: Path, arrays: Members, sizes: Sizes) -> Graph:
    further: dict[str, Any] = {"targets": arrays.get("targets")}
    if sizes.edge_features:
        further["edge_features"] = _mapped(folder / _EDGE_FEATURES, (sizes.edges, sizes.edge_features))
    if "links.train" in arrays:
        further["links"] = LinkSplit(*(_wide(arrays[f"links.{part}"]) for part in _LINKS))
    graph = _graph(arrays, "split.", features=_mapped(folder / _FEATURES, (sizes.nodes, sizes.features)), **further)
    if graph.sizes != sizes:
        raise ValueError("its sizes differ from the recorded ones")
    vars(graph)[_HASH] = arrays[_HASH].tobytes().hex()
    return graph


def _mapped(path: Path, shape: tuple[int, int]) -> DenseArray:
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    if mapped.shape != shape or mapped.dtype != np.float32:
        raise ValueError(f"{path.name} has shape {mapped.shape} and type {mapped.dtype}")
    return np.asarray(mapped)


def remove_others(folder: Path, pattern: str) -> None:
    """Remove other folders that match `pattern`: graphs of files that have changed since."""
    for other in folder.parent.glob(pattern):
        if other != folder:
            with contextlib.suppress(OSError):
                shutil.rmtree(other)
