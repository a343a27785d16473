"""Zip files that tell nothing of when and where they were made: equal members give equal bytes."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from lzma import LZMAError

# The earliest time a zip can hold, and what unpacked files may be: written by their owner, read by all.
SOME_DAY = (1980, 1, 1, 0, 0, 0)
READABLE = 0o644 << 16
UNIX = 3
# All that reading a zip raises that is damaged, or packed as this Python cannot unpack it.
DAMAGE = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, struct.error, RuntimeError)


def zip_bytes(members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of these files, by path and in this order.

    >>> zip_bytes({"a": b"1"}) == zip_bytes({"a": b"1"})
    True
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in members.items():
            member = zipfile.ZipInfo(path, SOME_DAY)
            member.compress_type, member.external_attr, member.create_system = compression, READABLE, UNIX
            archive.writestr(member, content)
    return buffer.getvalue()
