"""What the tensor files of a round hold: packed masks, edge scores, surviving weights, theta_0."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.errors import StoreError
from glt.masks import BoolArray, EdgeMask, Masks, WeightMask
from glt.store.edge_ranks import as_floats, shared_ranks
from glt.store.json_files import SEE_DOCTOR
from glt.store.tensors import read_about, read_tensors, write_tensors

Floats = NDArray[np.float32]

EDGES = "edges"
EDGE_SCORES = "edge_scores"
CENTER = "edge_scores_median"
SCORE_KIND, RANKED = "edge_scores_kind", "ranks"
MOST_SCORES = 1_000_000
WEIGHTS = "weights/"


def write_masks(path: Path, masks: Masks, edge_scores: NDArray[Any] | None) -> None:
    """Write binary masks as bits (eight a byte, row-major) and soft edge scores in half precision around their median.

    Soft masks stay near 1, where half precision has steps of a thousandth and most scores would become equal. Of a
    mask with more than a million entries, scores are kept as ranks of one byte.
    """
    arrays, about = packed_masks(masks)
    if edge_scores is not None and masks.edges.keep.size > MOST_SCORES:
        about[SCORE_KIND] = RANKED
        arrays[EDGE_SCORES] = shared_ranks(edge_scores, edge_scores.size - masks.edges.kept)
    elif edge_scores is not None:
        about[CENTER] = center = float(np.median(edge_scores)) if edge_scores.size else 0.0
        arrays[EDGE_SCORES] = (np.asarray(edge_scores, dtype=np.float64) - center).astype(np.float16)
    write_tensors(path, arrays, about)


def packed_masks(masks: Masks) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return masks as bits (eight a byte, row-major), and what they are about as values for JSON."""
    arrays: dict[str, NDArray[Any]] = {EDGES: np.packbits(masks.edges.keep)}
    for name, keep in masks.weights.keep.items():
        arrays[WEIGHTS + name] = np.packbits(keep)
    return arrays, {"edge_mask": masks.edges.kind, "edges": masks.edges.keep.size, **shapes_of(masks)}


def unpacked_masks(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Masks:
    """Return what `packed_masks` was given; raises KeyError or ValueError for anything else."""
    weights = {name: _unpack(arrays[WEIGHTS + name], tuple(shape)) for name, shape in about["weights"].items()}
    return Masks(_edges(arrays, about), WeightMask(weights))


def read_masks(path: Path) -> Masks:
    """Return the masks of a round file; raises StoreError when it is missing or damaged."""
    arrays, about = read_tensors(path, SEE_DOCTOR)
    try:
        return unpacked_masks(arrays, about)
    except (KeyError, ValueError) as error:
        raise StoreError(f"{path} is damaged ({error}): {SEE_DOCTOR}.") from None


def read_edge_mask(path: Path) -> EdgeMask:
    """Return the edge mask of a round file, its checksum compared; raises StoreError when it is missing or damaged."""
    arrays, about = read_tensors(path, SEE_DOCTOR)
    try:
        return _edges(arrays, about)
    except (KeyError, ValueError) as error:
        raise StoreError(f"{path} is damaged ({error}): {SEE_DOCTOR}.") from None


def read_edge_scores(path: Path) -> Floats | None:
    """Return the edge scores of a round file, or ranks in [0, 1) where it holds those; None when there are none."""
    arrays, about = read_tensors(path, SEE_DOCTOR)
    scores = arrays.get(EDGE_SCORES)
    if scores is None:
        return None
    if about.get(SCORE_KIND) == RANKED:
        return as_floats(scores)
    # Older files have no median.
    values: Floats = (scores.astype(np.float64) + about.get(CENTER, 0.0)).astype(np.float32)
    return values


def holds_ranks(path: Path) -> bool:
    """Say whether the edge scores of a round file are ranks; looks at nothing but its head."""
    return read_about(path, SEE_DOCTOR).get(SCORE_KIND) == RANKED


def write_weights(path: Path, weights: Mapping[str, NDArray[Any]], masks: Masks) -> None:
    """Write the surviving values of every tensor (float32, row-major); tensors without a mask are kept whole."""
    arrays = {name: np.asarray(values, dtype=np.float32) for name, values in weights.items()}
    for name, keep in masks.weights.keep.items():
        if name not in arrays or arrays[name].shape != keep.shape:
            raise ValueError(f"the weights hold no tensor {name!r} of the mask's shape {keep.shape}")
    shapes = {name: list(values.shape) for name, values in arrays.items()}
    survivors = {name: _survivors(values, masks.weights.keep.get(name)) for name, values in arrays.items()}
    write_tensors(path, survivors, {"shapes": shapes})


def read_weights(path: Path, masks: Masks) -> dict[str, Floats]:
    """Return full tensors with zeros where the weight is pruned; raises StoreError for a missing or damaged file."""
    arrays, about = read_tensors(path, SEE_DOCTOR)
    try:
        keep = masks.weights.keep
        return {name: _spread(arrays[name], keep.get(name), shape) for name, shape in about["shapes"].items()}
    except (KeyError, ValueError, IndexError) as error:
        raise StoreError(f"{path} does not fit the masks of its round ({error}): {SEE_DOCTOR}.") from None


def shapes_of(masks: Masks) -> dict[str, dict[str, list[int]]]:
    """Return the shapes of the weight masks as values for JSON, under the key "weights"."""
    return {"weights": {name: list(keep.shape) for name, keep in masks.weights.keep.items()}}


def _edges(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> EdgeMask:
    return EdgeMask(about["edge_mask"], _unpack(arrays[EDGES], (about["edges"],)))


def _unpack(bits: NDArray[np.uint8], shape: tuple[int, ...]) -> BoolArray:
    count = math.prod(shape)
    if bits.size != (count + 7) // 8:
        raise ValueError(f"{bits.size} bytes for {count} mask values")
    return np.unpackbits(bits, count=count).astype(np.bool_).reshape(shape)


def _survivors(values: Floats, keep: BoolArray | None) -> Floats:
    return values.ravel() if keep is None else values[keep]


def _spread(values: Floats, keep: BoolArray | None, shape: list[int]) -> Floats:
    if keep is None:
        return values.reshape(shape)
    full = np.zeros(shape, dtype=np.float32)
    full[keep] = values
    return full
