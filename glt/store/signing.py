"""JSON documents that carry a checksum of themselves, so that a digit that a disk has changed is noticed.

One that carries none, as those of earlier versions, is taken as it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glt.config import canonical_json
from glt.errors import StoreError

CHECKSUM = "crc32"


def crc(content: bytes) -> str:
    """Return the CRC-32 of some bytes as eight hexadecimal digits; any single changed byte changes it.

    >>> crc(b"123456789")
    'cbf43926'
    """
    return f"{zlib.crc32(content):08x}"


def signed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with the checksum of its canonical JSON."""
    return {**document, CHECKSUM: _of(document)}


def unsigned(path: Path, document: Mapping[str, Any], remedy: str) -> dict[str, Any]:
    """Return a document of the file `path` without its checksum; raises StoreError for one that does not fit."""
    content = {name: value for name, value in document.items() if name != CHECKSUM}
    if CHECKSUM in document and not _fits(content, document[CHECKSUM]):
        raise StoreError(f"{path} is damaged (its checksum does not fit its content): {remedy}.")
    return content


def is_signed(document: object) -> bool:
    """Say whether a document carries a checksum, right or wrong.

    >>> is_signed(signed({"threads": 1})), is_signed({"threads": 1})
    (True, False)
    """
    return isinstance(document, Mapping) and CHECKSUM in document


def _fits(content: Mapping[str, Any], recorded: object) -> bool:
    try:
        return recorded == _of(content)
    except ValueError:  # what canonical JSON cannot say, it never said
        return False


def _of(document: Mapping[str, Any]) -> str:
    return crc(canonical_json(dict(document)).encode())
