"""Room on a disk: how much is free where something is to be written."""

from __future__ import annotations

import shutil
from pathlib import Path

from glt.errors import DataError
from glt.formats import file_size


def free_bytes(folder: Path) -> int:
    """Return the bytes free where `folder` is, or will be when it is made; raises OSError."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


def check_room(folder: Path, wanted: int, purpose: str) -> None:
    """Raise DataError, before anything is written, when fewer than `wanted` bytes are free for `folder`."""
    free = free_bytes(folder)
    if free < wanted:
        raise DataError(
            f"{file_size(wanted)} are needed {purpose} and {file_size(free)} are free where {folder} is: make room."
        )
