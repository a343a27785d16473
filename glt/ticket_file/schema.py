"""Contents of a ticket file: the document ticket.json, and the types of its tensors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from glt.config import EdgeMaskKind, RunConfig
from glt.store import RoundRecord

Array = NDArray[Any]
FORMAT = "GLT Studio ticket"
VERSION = 1
# The members of the zip, and the key of ticket.json that holds the checksums.
ABOUT, TENSORS, README = "ticket.json", "tensors.safetensors", "README.md"
CHECKSUM = "sha256"

# Longest name; every node id takes as much memory as the longest one.
LONGEST_NAME = 256
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
# NumPy counts rows in 64 bits.
Rows = Annotated[int, Field(ge=0, le=2**63 - 1)]
# The source of a data set may be a path or an address.
Place = Annotated[str, Field(max_length=4096)]

# Types of safetensors in NumPy. Bfloat16, which it lacks, is the upper half of a float32.
TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
BFLOAT16 = "BF16"
# Names of tensors, or prefixes, by type.
REAL = ("edge_weight", "outputs", "features.values", "features.dense", "edge_features", "weight.", "theta_0.")
MASKS = ("edge_mask", "mask.")
INTEGERS = ("edges", "edge_index", "labels", "targets", *(f"features.{part}" for part in ("rows", "columns", "shape")))
INTEGERS += ("split.", "links.")


class Source(BaseModel):
    """The data set of a ticket, with dropped rows; `hash` is of the whole data set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    source: Place
    raw_rows: Rows
    duplicates_dropped: Rows
    self_loops_dropped: Rows
    hash: str | None


class About(BaseModel):
    """ticket.json without its checksums; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["GLT Studio ticket"] = "GLT Studio ticket"
    version: Literal[1] = 1
    run: Name
    seed: int
    config: RunConfig
    edge_mask: EdgeMaskKind
    record: RoundRecord
    metric: Name
    search_seconds: float
    data: Source
    class_names: tuple[Name, ...]
    node_ids: tuple[Name, ...] | None
    environment: dict[str, Any]
    written_by: dict[str, str]


def read_tensor(name: str, dtype: str, shape: list[int], data: bytes) -> Array:
    r"""Return a safetensors tensor as an array, bfloat16 as float32; raise ValueError for other types.

    >>> read_tensor("weight.a", "BF16", [1], b"\x80\x3f").tolist()
    [1.0]
    """
    if dtype == BFLOAT16:
        halves = np.frombuffer(data, dtype="<u2").astype("<u4") << 16
        return halves.view("<f4").reshape(shape)
    if dtype not in TYPES:
        raise ValueError(f"{name} has the unsupported type {dtype}")
    return np.frombuffer(data, dtype=TYPES[dtype]).reshape(shape)


def as_computed(name: str, array: Array) -> Array:
    """Return a tensor in the type of computations; raise ValueError for another kind.

    Half and double precision become float32 (out of range is an error), masks become bool. Tensors with unknown names
    stay as they are.
    """
    kind, wanted = array.dtype.kind, ""
    if _is_one_of(REAL, name):
        wanted = "" if kind == "f" else "floating-point numbers"
    elif _is_one_of(MASKS, name):
        wanted = "" if kind in "biu" and ((array == 0) | (array == 1)).all() else "only true and false"
    elif _is_one_of(INTEGERS, name):
        wanted = "" if kind in "iu" else "whole numbers"
    if wanted:
        raise ValueError(f"{name} has type {array.dtype}; it must contain {wanted}")
    if _is_one_of(MASKS, name):
        return array.astype(bool)
    if not _is_one_of(REAL, name):
        return array
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    if (np.isinf(single) & np.isfinite(array)).any():
        raise ValueError(f"{name} contains numbers beyond single precision")
    return single


def _is_one_of(names: tuple[str, ...], name: str) -> bool:
    return any(name.startswith(each) if each.endswith(".") else name == each for each in names)
