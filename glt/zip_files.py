"""Zip files that tell nothing of when and where they were made, and reading those that somebody brings.

Members are read into memory, never unpacked to a path of their own choosing.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from typing import IO, Any

# The earliest time a zip can hold, and what unpacked files may be: written by their owner, read by all.
SOME_DAY = (1980, 1, 1, 0, 0, 0)
READABLE = 0o644 << 16
UNIX = 3
# All that reading a zip raises that is damaged, or packed as this Python cannot unpack it.
DAMAGE = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, struct.error, RuntimeError, UnicodeDecodeError)
# The list of members of a zip, of which ours have a handful: some twenty thousand.
MOST_DIRECTORY = 1 << 20
# Read at a time. What Python makes of bytes that LZMA packed has no bound but their number: some 7,000 times as many.
# Of bzip2 it is 600,000 times as many, and no zip of ours is packed by it.
CHUNKS = {zipfile.ZIP_STORED: 1 << 20, zipfile.ZIP_DEFLATED: 1 << 20, zipfile.ZIP_LZMA: 64}


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


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip to read with `read_member`; raises what DAMAGE lists, for a list of members beyond measure too."""
    with path.open("rb") as file, zipfile.ZipFile(_Bounded(file)) as archive:
        yield archive


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the content of a member, of whose size no more is unpacked than it states; raises what DAMAGE lists.

    `ZipFile.read` unpacks all there is and cuts it to that size afterwards.
    """
    packed = archive.getinfo(name).compress_type
    if packed not in CHUNKS:
        raise zipfile.BadZipFile(f"{name} is packed in a way that is not read here")
    with archive.open(name) as member:
        member.MIN_READ_SIZE = CHUNKS[packed]  # type: ignore[attr-defined]
        return b"".join(iter(lambda: member.read(CHUNKS[packed]), b""))


class _Bounded:
    """A file of which no more is read at a time than a list of members may have."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > MOST_DIRECTORY:
            raise zipfile.BadZipFile("its list of files is too long")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
