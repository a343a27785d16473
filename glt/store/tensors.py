"""Tensor files: safetensors with shapes and a checksum; masks, scores and weights of a round."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from glt.config import canonical_json, parse_json
from glt.errors import StoreError
from glt.formats import as_typed
from glt.masks import BoolArray, EdgeMask, Masks, WeightMask
from glt.store.atomic_io import SEE_DOCTOR, check_regular, check_schema, reading, replace_file
from glt.store.paths import SCHEMA

METADATA_KEY = "glt"
# Larger than any disk that a run is kept on: what is asked is whether it is a plain file.
MOST_BYTES = 1 << 50
PREDICT_AGAIN = f"delete the file, then compute it again with `{as_typed('predictions')}`"

Array = NDArray[Any]
Part = TypeVar("Part", Masks, EdgeMask)


def write_tensors(path: Path, tensors: Mapping[str, Array], about: Mapping[str, Any]) -> None:
    """Write arrays and the JSON values `about` them; equal input gives equal bytes."""
    arrays = {name: np.asarray(tensors[name], order="C") for name in sorted(tensors)}
    metadata = canonical_json({**about, "schema": SCHEMA, "sha256": content_hash(arrays, about)})
    replace_file(path, save(arrays, {METADATA_KEY: metadata}))


def content_hash(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> str:
    """Return the checksum that `write_tensors` stores for arrays and the values about them."""
    return checksum(arrays, {**about, "schema": SCHEMA})


def read_tensors(path: Path, remedy: str) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays and the values about them; raises StoreError if missing, damaged or newer."""
    with _opened(path, remedy) as (file, about):
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    check_schema(path, about)
    if about.pop("sha256", None) != checksum(arrays, about):
        raise StoreError(f"{path} is damaged (its checksum does not match its content): {remedy}.")
    return arrays, about


def read_about(path: Path, remedy: str) -> dict[str, Any]:
    """Return the values about the arrays without reading the arrays; raises StoreError as `read_tensors`."""
    with _opened(path, remedy) as (_, about):
        check_schema(path, about)
    return about


@contextmanager
def _opened(path: Path, remedy: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    with reading(path, remedy):
        check_regular(path, MOST_BYTES)
        try:
            with safe_open(path, framework="numpy") as file:
                yield file, parse_json(file.metadata()[METADATA_KEY])
        except (SafetensorError, ValueError, KeyError, TypeError):
            raise StoreError(f"{path} is damaged: {remedy}.") from None


def checksum(arrays: Mapping[str, Array], about: Mapping[str, Any] | None = None) -> str:
    """Return SHA-256 (hex) of names, types, shapes and values of arrays, and the values about them."""
    digest = hashlib.sha256(canonical_json(about).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(np.asarray(array, order="C").tobytes())
    return digest.hexdigest()


Bytes = NDArray[np.uint8]
RANKS = 256


def quantised_ranks(scores: NDArray[np.floating], kept: BoolArray) -> Bytes:
    """Return ranks in 256 steps; among equal scores the removed come first, then the lower index.

    The first kept entry starts a new step, so that no removed entry shares one with it.

    >>> quantised_ranks(np.array([0.3, 0.1, 0.1], dtype=np.float32), np.array([True, True, False])).tolist()
    [170, 85, 0]
    """
    steps = _parted(np.arange(scores.size) * RANKS // max(scores.size, 1), scores.size - int(kept.sum()))
    ranks = np.empty(scores.size, dtype=np.uint8)
    ranks[np.lexsort((kept, scores))] = steps
    return ranks


def shared_ranks(scores: NDArray[np.floating], cut: int) -> Bytes:
    """Return ranks in 256 steps, equal for equal scores; the lowest `cut` entries were removed.

    No kept entry shares a step with a removed one, unless its score equals that of the last one removed.

    >>> shared_ranks(np.array([0.3, 0.1, 0.1, 0.2], dtype=np.float32), 2).tolist()
    [192, 0, 0, 128]
    """
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    steps = (np.cumsum(counts) - counts) * RANKS // max(scores.size, 1)
    cuts_some = 0 < cut < scores.size
    above = int(place[np.argpartition(scores, cut - 1)[cut - 1]]) + 1 if cuts_some else 0
    ranks: Bytes = _parted(steps, above).astype(np.uint8)[place]
    return ranks


def _parted(steps: NDArray[np.int64], above: int) -> NDArray[np.int64]:
    """Let the steps from place `above` on, which were kept, start a new step."""
    if not 0 < above < steps.size:
        return steps
    line = min(int(steps[above - 1]) + 1, RANKS - 1)
    return np.concatenate([steps[:above].clip(max=line - 1), steps[above:].clip(min=line)])


def as_floats(ranks: Bytes) -> NDArray[np.float32]:
    """Return one-byte ranks as numbers in [0, 1)."""
    return ranks.astype(np.float32) / np.float32(RANKS)


Floats = NDArray[np.float32]

EDGES = "edges"
EDGE_SCORES = "edge_scores"
CENTER = "edge_scores_median"
SCORE_KIND, RANKED = "edge_scores_kind", "ranks"
MOST_SCORES = 1_000_000
WEIGHTS = "weights/"


def write_masks(path: Path, masks: Masks, edge_scores: NDArray[Any] | None) -> None:
    """Write masks as bits (eight a byte, row-major) and edge scores in half precision around their median.

    Soft masks stay near 1, where half precision has steps of a thousandth and most scores would become equal. For more
    than a million entries, scores are kept as one-byte ranks.
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
    """Return masks as bits (eight a byte, row-major), and their description as JSON values."""
    arrays: dict[str, NDArray[Any]] = {EDGES: np.packbits(masks.edges.keep)}
    for name, keep in masks.weights.keep.items():
        arrays[WEIGHTS + name] = np.packbits(keep)
    shapes = {name: list(keep.shape) for name, keep in masks.weights.keep.items()}
    return arrays, {"edge_mask": masks.edges.kind, "edges": masks.edges.keep.size, "weights": shapes}


def unpacked_masks(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Masks:
    """Reverse `packed_masks`; raises KeyError or ValueError for anything else."""
    weights = {name: _unpack(arrays[WEIGHTS + name], tuple(shape)) for name, shape in about["weights"].items()}
    return Masks(_edges(arrays, about), WeightMask(weights))


def read_masks(path: Path) -> Masks:
    """Return the masks of a round file; raises StoreError if it is missing or damaged."""
    return _unpacked(path, unpacked_masks)


def read_edge_mask(path: Path) -> EdgeMask:
    """Return the edge mask of a round file, checksum verified; raises StoreError as `read_masks`."""
    return _unpacked(path, _edges)


def _unpacked(path: Path, unpack: Callable[[Mapping[str, Array], Mapping[str, Any]], Part]) -> Part:
    arrays, about = read_tensors(path, SEE_DOCTOR)
    try:
        return unpack(arrays, about)
    except (KeyError, ValueError) as error:
        raise StoreError(f"{path} is damaged ({error}): {SEE_DOCTOR}.") from None


def read_edge_scores(path: Path) -> Floats | None:
    """Return the edge scores, or ranks in [0, 1), of a round file; None without any."""
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
    """Say whether the edge scores of a round file are ranks; reads only its header."""
    return read_about(path, SEE_DOCTOR).get(SCORE_KIND) == RANKED


def write_weights(path: Path, weights: Mapping[str, NDArray[Any]], masks: Masks) -> None:
    """Write the surviving values of every tensor (float32, row-major); unmasked tensors are whole."""
    arrays = {name: np.asarray(values, dtype=np.float32) for name, values in weights.items()}
    survivors = {name: values.ravel() for name, values in arrays.items()}
    for name, keep in masks.weights.keep.items():
        if name not in arrays or arrays[name].shape != keep.shape:
            raise ValueError(f"the weights hold no tensor {name!r} of the mask's shape {keep.shape}")
        survivors[name] = arrays[name][keep]
    write_tensors(path, survivors, {"shapes": {name: list(values.shape) for name, values in arrays.items()}})


def read_weights(path: Path, masks: Masks) -> dict[str, Floats]:
    """Return full tensors with zeros where pruned; raises StoreError if the file is missing or damaged."""
    arrays, about = read_tensors(path, SEE_DOCTOR)
    try:
        keep = masks.weights.keep
        return {name: _spread(arrays[name], keep.get(name), shape) for name, shape in about["shapes"].items()}
    except (KeyError, ValueError, IndexError) as error:
        raise StoreError(f"{path} does not fit the masks of its round ({error}): {SEE_DOCTOR}.") from None


@dataclass(frozen=True, eq=False)
class Predictions:
    """Logits [n, C] of a round's network on the validation and the test nodes, in the order of the split."""

    val: Floats
    test: Floats


def write_predictions(path: Path, predictions: Predictions, round: int) -> None:
    """Write logits in single precision, as computed: in half precision close logits would become equal."""
    write_tensors(path, vars(predictions), {"round": round})


def read_predictions(path: Path) -> Predictions:
    """Return the logits in a file; raises StoreError if it is damaged."""
    arrays, _ = read_tensors(path, PREDICT_AGAIN)
    try:
        found = Predictions(arrays["val"], arrays["test"])
    except KeyError as error:
        raise StoreError(f"{path} is damaged (it lacks {error}): {PREDICT_AGAIN}.") from None
    if any(part.ndim != 2 or part.dtype != np.float32 for part in vars(found).values()):
        raise StoreError(f"{path} is damaged (it holds no table of logits): {PREDICT_AGAIN}.")
    return found


def _edges(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> EdgeMask:
    return EdgeMask(about["edge_mask"], _unpack(arrays[EDGES], (about["edges"],)))


def _unpack(bits: NDArray[np.uint8], shape: tuple[int, ...]) -> BoolArray:
    count = math.prod(shape)
    if bits.size != (count + 7) // 8:
        raise ValueError(f"{bits.size} bytes for {count} mask values")
    return np.unpackbits(bits, count=count).astype(np.bool_).reshape(shape)


def _spread(values: Floats, keep: BoolArray | None, shape: list[int]) -> Floats:
    if keep is None:
        return values.reshape(shape)
    full = np.zeros(shape, dtype=np.float32)
    full[keep] = values
    return full
