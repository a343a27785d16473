"""All masks of one seed in one compressed file: per weight and edge the round that removed it."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from glt import zip_files
from glt.config import EdgeMaskKind, canonical_json, parse_json
from glt.errors import StoreError, no_round
from glt.masks import BoolArray, EdgeMask, Masks, WeightMask
from glt.store.atomic_io import check_regular, check_schema, reading, replace_file
from glt.store.paths import SCHEMA
from glt.store.tensors import EDGE_SCORES, EDGES, WEIGHTS, Bytes, Floats, as_floats, quantised_ranks

ABOUT = "about.json"
REMEDY = "restore it from a copy"
MOST_ROUNDS = 255
# A hundred times what the largest example has.
MOST_BYTES = 1 << 28
DAMAGE = (*zip_files.DAMAGE, ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError)
NONE: Bytes = np.empty(0, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class CompactMasks:
    """Masks of rounds 0 to `last`, and edge scores as 8-bit ranks, `score_counts` per round."""

    last: int
    kind: EdgeMaskKind
    shapes: Mapping[str, tuple[int, ...]]
    coded: Mapping[str, Bytes]
    score_counts: Sequence[int]

    @classmethod
    def pack(cls, masks: Sequence[Masks], scores: Sequence[Floats | None]) -> CompactMasks:
        """Code the masks and edge scores of rounds 0, 1, ...; raises StoreError for more than 255 rounds."""
        last = len(masks) - 1
        if last > MOST_ROUNDS:
            raise StoreError(f"A compact run holds at most {MOST_ROUNDS} rounds, not {last}: pack fewer rounds.")
        named = [_named(each) for each in masks]
        coded = {name: encode(np.stack([each[name].ravel() for each in named])) for name in named[0]}
        counts = [0 if score is None else score.size for score in scores]
        # Scores of a round belong to the entries that the round before kept.
        ranks = [
            quantised_ranks(score, after.edges.keep.ravel()[before.edges.keep.ravel()])
            for score, before, after in zip(scores, [masks[0], *masks], masks, strict=False)
            if score is not None
        ]
        coded[EDGE_SCORES] = np.concatenate([NONE, *ranks])
        shapes = {name: keep.shape for name, keep in named[0].items()}
        return cls(last, masks[0].edges.kind, shapes, coded, counts)

    def masks(self, round: int) -> Masks:
        """Return both masks after `round`; raises StoreError when there is no such round."""
        shapes = {name: shape for name, shape in self.shapes.items() if name != EDGES}
        edges = self.edge_mask(round)
        weights = {name.removeprefix(WEIGHTS): decode(self.coded[name], round, each) for name, each in shapes.items()}
        return Masks(edges, WeightMask(weights))

    def edge_mask(self, round: int) -> EdgeMask:
        """Return the edge mask after `round`; raises StoreError when there is no such round."""
        self._require(round)
        return EdgeMask(self.kind, decode(self.coded[EDGES], round, self.shapes[EDGES]))

    def edge_scores(self, round: int) -> Floats | None:
        """Return the ranks in [0, 1) of the entries that `round` could prune; None without scores."""
        self._require(round)
        count, start = self.score_counts[round], sum(self.score_counts[:round])
        return as_floats(self.coded[EDGE_SCORES][start : start + count]) if count else None

    def write(self, path: Path) -> None:
        """Write a zip of .npy files with LZMA compression; equal masks give equal bytes."""
        about = {
            "schema": SCHEMA,
            "last": self.last,
            "edge_mask": self.kind,
            "score_counts": list(self.score_counts),
            "shapes": {name: list(shape) for name, shape in self.shapes.items()},
        }
        members = {ABOUT: canonical_json(about).encode()}
        for name in sorted(self.coded):
            buffer = io.BytesIO()
            np.save(buffer, np.ascontiguousarray(self.coded[name]), allow_pickle=False)
            members[f"{name}.npy"] = buffer.getvalue()
        replace_file(path, zip_files.zip_bytes(members, zipfile.ZIP_LZMA))

    @classmethod
    def read(cls, path: Path, weights: bool = True) -> CompactMasks:
        """Read a file made by `write`; without `weights`, most of it is skipped."""
        with reading(path, REMEDY):
            check_regular(path, MOST_BYTES)
            try:
                with zip_files.opened(path) as archive:
                    size = sum(member.file_size for member in archive.infolist())
                    if size > MOST_BYTES:
                        limit = f"{size >> 20} MiB, more than {MOST_BYTES >> 20}"
                        raise StoreError(f"{path} would unpack to {limit}: {REMEDY}.")
                    about = parse_json(zip_files.read_member(archive, ABOUT))
                    check_schema(path, about)
                    return cls._from(archive, about, weights)
            except DAMAGE:
                raise StoreError(f"{path} is damaged: {REMEDY}.") from None

    @classmethod
    def _from(cls, archive: zipfile.ZipFile, about: Mapping[str, Any], weights: bool) -> CompactMasks:
        shapes = {name: tuple(shape) for name, shape in about["shapes"].items() if weights or name == EDGES}
        coded = {name: _bytes_in(zip_files.read_member(archive, f"{name}.npy")) for name in (*shapes, EDGE_SCORES)}
        last = about["last"]
        for name, shape in shapes.items():
            count = math.prod(shape)
            expected = (count,) if coded[name].ndim == 1 else (last, (count + 7) // 8)
            if coded[name].shape != expected:
                raise ValueError(f"{coded[name].shape} where {expected} belongs")
        return cls(last, about["edge_mask"], shapes, coded, about["score_counts"])

    def _require(self, round: int) -> None:
        if not 0 <= round <= self.last:
            raise StoreError(no_round(round, "this example", self.last))


def encode(planes: BoolArray) -> Bytes:
    """Code [R + 1, n] masks of rounds 0 to R; round 0 keeps everything.

    Nested masks become n bytes: the round that removed the value, 0 if it is still there. Others become [R, n / 8]
    packed bits, one row per round, set where the mask changed. Values of a row are ordered by their last eight states:
    values with equal states change alike, which compresses well.

    >>> encode(np.array([[1, 1, 1], [1, 0, 1], [1, 0, 0]], dtype=bool)).tolist()
    [0, 1, 2]
    """
    if not planes[0].all():
        raise ValueError("round 0 keeps everything")
    if (planes[1:] <= planes[:-1]).all():
        gone: Bytes = (~planes).argmax(axis=0).astype(np.uint8)
        return gone
    history = np.zeros(planes.shape[1], dtype=np.uint8)
    rows = []
    for before, after in pairwise(planes):
        history = _with_latest(history, before)
        rows.append(np.packbits((before ^ after)[np.argsort(history, kind="stable")]))
    return np.stack(rows)


def decode(coded: Bytes, round: int, shape: tuple[int, ...]) -> BoolArray:
    """Return the mask of `round` from what `encode` made."""
    if coded.ndim == 1:
        nested: BoolArray = (coded == 0) | (coded > round)
        return nested.reshape(shape)
    kept: BoolArray = np.ones(math.prod(shape), dtype=np.bool_)
    history = np.zeros(kept.size, dtype=np.uint8)
    for row in coded[:round]:
        history = _with_latest(history, kept)
        order = np.argsort(history, kind="stable")
        kept[order] ^= np.unpackbits(row, count=kept.size).astype(np.bool_)
    return kept.reshape(shape)


def _with_latest(history: Bytes, state: BoolArray) -> Bytes:
    """Put a round's states into the highest of the eight bits that stand for the latest rounds."""
    latest: Bytes = np.bitwise_or(history >> 1, state * np.uint8(128), dtype=np.uint8)
    return latest


def _named(masks: Masks) -> dict[str, BoolArray]:
    return {EDGES: masks.edges.keep, **{WEIGHTS + name: keep for name, keep in masks.weights.keep.items()}}


def _bytes_in(content: bytes) -> Bytes:
    """Return the bytes in a .npy file; raises ValueError for anything else."""
    buffer = io.BytesIO(content)
    np.lib.format.read_magic(buffer)
    shape, _, dtype = np.lib.format.read_array_header_1_0(buffer)
    if dtype != np.uint8:
        raise ValueError(f"{dtype} where bytes belong")
    return np.frombuffer(buffer.read(), dtype=np.uint8).reshape(shape)
