"""Looking at what lies beside the files of the store: what killed processes left, and what is somebody else's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from glt.doctor.finding import Finding, foreign, moved
from glt.store import paths

# A write takes moments; whoever wrote this lately may be on a host whose processes are not seen here.
WRITING = 10.0


def strays(folder: Path, is_ours: Callable[[str], bool]) -> Iterator[Finding]:
    """Find unfinished writes of names that `is_ours` knows, and files of others, which are told and stay."""
    for path in sorted(folder.iterdir()):
        writer = paths.writer_of(path.name)
        if writer is not None and is_ours(writer[0]):
            if not _is_being_written(path, writer[1]):
                yield moved(path, "was being written when its process ended", "")
        elif not is_ours(path.name) and not path.name.startswith("."):
            yield foreign(path)


def _is_being_written(path: Path, pid: int) -> bool:
    try:
        age = time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return True
    return age < WRITING or psutil.pid_exists(pid)
