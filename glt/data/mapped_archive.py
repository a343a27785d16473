"""Large graphs in a folder: arrays of numbers without pickle, of which the large ones are mapped and not read.

A process that looks at the structure alone never holds the features, and those that train share them.
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

from glt import zips
from glt.data.archive import describe, narrow, wide
from glt.data.graph import DenseArray, Graph, LinkSplit, Provenance, Sizes, Split
from glt.errors import DataError

Arrays = dict[str, NDArray[Any]]
_STRUCTURE, _FEATURES, _EDGE_FEATURES, _SIZES = "graph.npz", "features.npy", "edge_features.npy", "sizes.json"
_HASH = "content_hash"
_SPLIT = ("train", "val", "test")
_LINKS = ("train", "val", "test", "val_negatives", "test_negatives")
_DAMAGE = (OSError, ValueError, KeyError, TypeError, *zips.DAMAGE)


def write_mapped(folder: Path, graph: Graph) -> None:
    """Write `graph`, whose features are dense, to `folder` whole or not at all; raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        temporary.mkdir()
        _write(temporary, graph)
        # A folder takes the place of none: a damaged one goes first.
        shutil.rmtree(folder, ignore_errors=True)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_mapped(folder: Path) -> Graph:
    """Return the graph in `folder`; raises DataError when it is missing or damaged."""
    try:
        with (folder / _STRUCTURE).open("rb") as file, np.load(file, allow_pickle=False) as held:
            arrays: Arrays = dict(held)
        return _graph(folder, arrays, sizes_of(folder))
    except _DAMAGE as error:
        raise DataError(f"{folder} cannot be read as a graph ({error}): delete it.") from error


def sizes_of(folder: Path) -> Sizes:
    """Return the sizes of the graph in `folder` without reading it; raises OSError, ValueError or TypeError."""
    return Sizes(**json.loads((folder / _SIZES).read_text(encoding="utf-8")))


def _write(folder: Path, graph: Graph) -> None:
    with (folder / _STRUCTURE).open("wb") as file:
        np.savez(file, allow_pickle=False, **_structure(graph))
    np.save(folder / _FEATURES, np.asarray(graph.features, dtype=np.float32), allow_pickle=False)
    if graph.edge_features is not None:
        np.save(folder / _EDGE_FEATURES, graph.edge_features, allow_pickle=False)
    (folder / _SIZES).write_text(json.dumps(vars(graph.sizes)), encoding="utf-8")


def _structure(graph: Graph) -> Arrays:
    integers = {"edges": graph.edges, "labels": graph.labels}
    integers |= {f"split.{part}": getattr(graph.split, part) for part in _SPLIT}
    if graph.links is not None:
        integers |= {f"links.{part}": getattr(graph.links, part) for part in _LINKS}
    arrays: Arrays = {name: narrow(array) for name, array in integers.items()}
    arrays["about"] = np.frombuffer(describe(graph).encode(), dtype=np.uint8)
    # Features are read here anyway; whoever maps them later need not read them to know whether it is this graph.
    arrays[_HASH] = np.frombuffer(bytes.fromhex(graph.content_hash), dtype=np.uint8)
    return arrays if graph.targets is None else {**arrays, "targets": graph.targets}


def _graph(folder: Path, arrays: Arrays, sizes: Sizes) -> Graph:
    about = json.loads(arrays["about"].tobytes())
    graph = Graph(
        name=about["name"],
        edges=wide(arrays["edges"]),
        features=_mapped(folder / _FEATURES, (sizes.nodes, sizes.features)),
        labels=wide(arrays["labels"]),
        split=Split(*(wide(arrays[f"split.{part}"]) for part in _SPLIT)),
        provenance=Provenance(**about["provenance"]),
        class_names=tuple(about["class_names"]),
        targets=arrays.get("targets"),
        edge_features=_edge_features(folder, sizes),
        links=_links(arrays),
    )
    if graph.sizes != sizes:
        raise ValueError("its sizes are not those it states")
    vars(graph)[_HASH] = arrays[_HASH].tobytes().hex()
    return graph


def _edge_features(folder: Path, sizes: Sizes) -> DenseArray | None:
    return _mapped(folder / _EDGE_FEATURES, (sizes.edges, sizes.edge_features)) if sizes.edge_features else None


def _links(arrays: Arrays) -> LinkSplit | None:
    return LinkSplit(*(wide(arrays[f"links.{part}"]) for part in _LINKS)) if "links.train" in arrays else None


def _mapped(path: Path, shape: tuple[int, int]) -> DenseArray:
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    if mapped.shape != shape or mapped.dtype != np.float32:
        raise ValueError(f"{path.name} holds {mapped.shape} of {mapped.dtype}")
    return np.asarray(mapped)


def remove_others(folder: Path, pattern: str) -> None:
    """Remove the folders beside `folder` that `pattern` matches: graphs of files that have changed since."""
    for other in folder.parent.glob(pattern):
        if other != folder:
            with contextlib.suppress(OSError):
                shutil.rmtree(other)
