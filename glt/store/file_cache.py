"""What was read from a file, kept until the file changes: a store of a thousand runs is read once, then looked at.

Nothing is written anywhere; a new process reads anew. Files of a store are replaced by renaming (another inode) or
grow at their end (another size), a folder has another time when a name in it comes or goes, and what changed a moment
ago is never kept, whatever its clock says.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Content = TypeVar("Content")
Stamp = tuple[int, int, int]

MOST = 20_000
# Seconds; clocks of file systems tick in milliseconds.
TOO_FRESH = 0.1


def cached(
    read: Callable[[Path], Content], lasts: Callable[[Content], bool] = lambda content: True
) -> Callable[[Path], Content]:
    """Return `read` with its results kept by path, inode, size and time of the file or folder.

    What it raises is not kept, and neither is what does not `last`: what may change though the stamp stays.
    """
    kept: dict[str, tuple[Stamp, Content]] = {}

    def reader(path: Path) -> Content:
        name = os.fspath(path)
        stamp = _stamp(path)
        known = kept.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        content = read(path)
        if stamp is not None and time.time() - stamp[2] / 1e9 > TOO_FRESH and lasts(content):
            if len(kept) >= MOST:
                kept.clear()
            kept[name] = stamp, content
        return content

    return reader


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
