"""Zip files that do not depend on time or machine, and safe reading of others.

Members are read into memory, never unpacked to a path.
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
    """Return a zip of these files, by path, in this order.

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
    """Open a zip for `read_member`; raises what DAMAGE lists, also for a huge member list."""
    with path.open("rb") as file, zipfile.ZipFile(_Bounded(file)) as archive:
        yield archive


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the content of a member, unpacking at most its stated size; raises what DAMAGE lists.

    `ZipFile.read` unpacks everything and cuts it afterwards.
    """
    packed = archive.getinfo(name).compress_type
    if packed not in CHUNKS:
        raise zipfile.BadZipFile(f"{name} uses a compression that is not supported")
    with archive.open(name) as member:
        member.MIN_READ_SIZE = CHUNKS[packed]  # type: ignore[attr-defined]
        return b"".join(iter(lambda: member.read(CHUNKS[packed]), b""))


class _Bounded:
    """A file that refuses reads larger than a member list may be."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > MOST_DIRECTORY:
            raise zipfile.BadZipFile("its list of files is too long")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
