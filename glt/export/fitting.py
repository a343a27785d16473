"""Whether the parts of a ticket file fit each other: ValueError, in words, for the first that does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.data import Graph
from glt.export.about import About
from glt.export.node_tensors import DENSE, SPARSE
from glt.formats import count, number_of
from glt.store import MAC_CONVENTIONS, RoundRecord

Array = NDArray[Any]
NEEDED = (
    "edge_index",
    "edge_weight",
    "edges",
    "edge_mask",
    "outputs",
    "labels",
    *(f"split.{part}" for part in ("train", "val", "test")),
)

# What is one row of numbers.
LISTS = ("edge_weight", "labels", *(f"split.{part}" for part in ("train", "val", "test")), *SPARSE)
EMPTY = np.empty(0)


def check_members(record: RoundRecord, arrays: Mapping[str, Array]) -> None:
    """Refuse a file without one of its tensors or one of its MACs, and whole numbers beyond all bounds."""
    needed = NEEDED if DENSE in arrays else (*NEEDED, *SPARSE)
    if missing := [name for name in needed if name not in arrays]:
        raise ValueError(f"it holds no tensor {' and no '.join(missing)}")
    if bent := [name for name in LISTS if arrays.get(name, EMPTY).ndim != 1]:
        raise ValueError(f"its tensor {bent[0]} is {list(arrays[bent[0]].shape)}, where it must be one list")
    if uncounted := [name for name in MAC_CONVENTIONS if name not in record.macs]:
        raise ValueError(f"its record has no MACs with {' and '.join(uncounted)}")
    if not record.is_bounded:
        raise ValueError("its record counts beyond all bounds")


def check_names(graph: Graph) -> None:
    """Refuse fewer names than classes, and node ids that are not one for each node, all different."""
    classes, names, ids = graph.num_classes, graph.class_names, graph.node_ids
    if names and len(names) < classes:
        raise ValueError(f"{number_of(len(names), 'class name')} for {count(classes)} classes")
    if ids is None:
        return
    if len(ids) != graph.num_nodes:
        raise ValueError(f"{number_of(len(ids), 'node id')} for {count(graph.num_nodes)} nodes")
    if len(set(ids)) != len(ids):
        raise ValueError(f"{number_of(len(ids) - len(set(ids)), 'node id')} of another node")


def check_classes(about: About, graph: Graph, outputs: Array) -> None:
    """Refuse labels or targets of other classes than the outputs of a node classifier [N, C] have."""
    if about.config.task != "node" or outputs.ndim != 2:
        return
    if graph.targets is not None and outputs.shape[1] != graph.targets.shape[1]:
        raise ValueError(f"{count(graph.targets.shape[1])} targets for {count(outputs.shape[1])} outputs")
    if graph.targets is not None:
        return
    if outputs.shape[1] != graph.num_classes or graph.labels.min(initial=0) < -1:
        low, high = int(graph.labels.min()), int(graph.labels.max())
        raise ValueError(f"labels from {low} to {high} for outputs of {count(outputs.shape[1])} classes")


def check_same(prefix: str, asked: Mapping[str, tuple[int, ...]], held: Mapping[str, Array]) -> None:
    """Refuse tensors that are not of the names and shapes the settings, features and labels ask for."""
    for name in sorted({*asked, *held}):
        ours, theirs = asked.get(name), held[name].shape if name in held else None
        if ours != theirs:
            told = f"settings, features and labels ask for {_shape(ours)}"
            raise ValueError(f"{prefix}{name} is {_shape(theirs)}, where {told}")


def _shape(shape: tuple[int, ...] | None) -> str:
    return "absent" if shape is None else str(list(shape))
