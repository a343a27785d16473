"""What was read from a file, kept until the file changes: a store of a thousand runs is read once, then looked at.

Nothing is written anywhere; a new process reads anew. Files of a store are replaced by renaming (another inode) or
grow at their end (another size), and one that changed a moment ago is never kept, whatever its clock says.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Content = TypeVar("Content")
Stamp = tuple[int, int, int]

MOST = 20_000
# Seconds; clocks of file systems tick in milliseconds.
TOO_FRESH = 0.1


def remembered(read: Callable[[Path], Content]) -> Callable[[Path], Content]:
    """Return `read` with its results kept by path, inode, size and time of the file; what it raises is not kept."""
    kept: dict[Path, tuple[Stamp, Content]] = {}

    def reader(path: Path) -> Content:
        stamp = _stamp(path)
        known = kept.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        content = read(path)
        if stamp is not None and time.time() - stamp[2] / 1e9 > TOO_FRESH:
            if len(kept) >= MOST:
                kept.clear()
            kept[path] = stamp, content
        return content

    return reader


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
