"""The types of a ticket's tensors: what other programs write, read as the types that this one computes with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# The types of safetensors that NumPy has. Bfloat16, which it lacks, is the upper half of a single-precision number.
TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}
BFLOAT16 = "BF16"

REAL = ("edge_weight", "outputs", "features.values", "features.dense", "edge_features")
REAL_PREFIXES = ("weight.", "theta_0.")
MASKS, MASK_PREFIX = ("edge_mask",), "mask."
WHOLE = ("edges", "edge_index", "labels", "targets", "features.rows", "features.columns", "features.shape")
WHOLE_PREFIXES = ("split.", "links.")


def read_tensor(name: str, dtype: str, shape: list[int], data: bytes) -> Array:
    r"""Return a tensor as safetensors stores it, bfloat16 as float32; raises ValueError for any type not listed here.

    >>> read_tensor("weight.a", "BF16", [1], b"\x80\x3f").tolist()
    [1.0]
    """
    if dtype == BFLOAT16:
        halves = np.frombuffer(data, dtype="<u2").astype("<u4") << 16
        return halves.view("<f4").reshape(shape)
    if dtype not in TYPES:
        raise ValueError(f"{name} is of type {dtype}, and no tensor of a ticket is")
    return np.frombuffer(data, dtype=TYPES[dtype]).reshape(shape)


def as_computed(name: str, array: Array) -> Array:
    """Return a tensor in the type the networks compute with; raises ValueError for one of another kind.

    Numbers of half or double precision become float32; a double beyond its range is refused. Masks become bool.
    """
    if name in REAL or name.startswith(REAL_PREFIXES):
        return _single(name, array)
    if name in MASKS or name.startswith(MASK_PREFIX):
        return _mask(name, array)
    if (name in WHOLE or name.startswith(WHOLE_PREFIXES)) and array.dtype.kind not in "iu":
        raise ValueError(f"{name} is of type {array.dtype}, where it must hold whole numbers")
    return array


def _single(name: str, array: Array) -> Array:
    if array.dtype.kind != "f":
        raise ValueError(f"{name} is of type {array.dtype}, where it must hold floating-point numbers")
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    if (np.isinf(single) & np.isfinite(array)).any():
        raise ValueError(f"{name} holds numbers beyond the range of single precision")
    return single


def _mask(name: str, array: Array) -> Array:
    if array.dtype.kind not in "biu" or not ((array == 0) | (array == 1)).all():
        raise ValueError(f"{name} is of type {array.dtype}, where it must hold true and false")
    return array.astype(bool)
