"""Tensor files: safetensors with one metadata key, canonical JSON that holds shapes and a checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from glt import json_text
from glt.config import canonical_json
from glt.errors import StoreError
from glt.store.paths import SCHEMA
from glt.store.safe_files import check_regular, reading, replace_file

METADATA_KEY = "glt"
# Larger than any disk that a run is kept on: what is asked is whether it is a plain file.
MOST_BYTES = 1 << 50

Array = NDArray[Any]


def write_tensors(path: Path, tensors: Mapping[str, Array], about: Mapping[str, Any]) -> None:
    """Write arrays and the JSON values `about` them; equal input gives equal bytes."""
    arrays = {name: np.asarray(tensors[name], order="C") for name in sorted(tensors)}
    metadata = canonical_json({**about, "schema": SCHEMA, "sha256": content_hash(arrays, about)})
    replace_file(path, save(arrays, {METADATA_KEY: metadata}))


def content_hash(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> str:
    """Return the checksum that `write_tensors` writes down for arrays and the values about them."""
    return checksum(arrays, {**about, "schema": SCHEMA})


def read_tensors(path: Path, remedy: str) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays and the values about them; raises StoreError for a missing, damaged or newer file."""
    with _opened(path, remedy) as file:
        about = _about(file)
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    check_schema(path, about)
    if about.pop("sha256", None) != checksum(arrays, about):
        raise StoreError(f"{path} is damaged (its checksum does not fit its content): {remedy}.")
    return arrays, about


def read_about(path: Path, remedy: str) -> dict[str, Any]:
    """Return the values about the arrays of a file, which are not read; raises StoreError as `read_tensors` does."""
    with _opened(path, remedy) as file:
        about = _about(file)
    check_schema(path, about)
    return about


@contextmanager
def _opened(path: Path, remedy: str) -> Iterator[Any]:
    with reading(path, remedy):
        check_regular(path, MOST_BYTES)
        try:
            with safe_open(path, framework="numpy") as file:
                yield file
        except (SafetensorError, ValueError, KeyError, TypeError):
            raise StoreError(f"{path} is damaged: {remedy}.") from None


def _about(file: Any) -> dict[str, Any]:
    about: dict[str, Any] = json_text.parsed(file.metadata()[METADATA_KEY])
    return about


def checksum(arrays: Mapping[str, Array], about: Mapping[str, Any] | None = None) -> str:
    """Return SHA-256 (hex) over names, types, shapes and values of the arrays, and over the JSON values about them."""
    digest = hashlib.sha256(canonical_json(about).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(np.asarray(array, order="C").tobytes())
    return digest.hexdigest()


def check_schema(path: Path, document: Any) -> None:
    """Raise StoreError when a file was written by a newer version of the store's format, or says no version."""
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise StoreError(f"{path} is damaged (it does not say which format it has): restore it from a copy.")
    if schema > SCHEMA:
        raise StoreError(
            f"{path} was written by a newer GLT Studio (format {schema}, this one reads {SCHEMA}): update GLT Studio."
        )
