"""Work on files that several processes may want to do, and folders it needs meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

# Nothing that is read or downloaded here takes so long; what is older was left by a process that was killed.
SECONDS_OF_A_DAY = 86_400


@contextlib.contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Hold the lock `path`, and say on standard error what is waited for while another process holds it.

    Where no lock can be made the work goes on without: it is then done twice, which costs time only.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("w")
    except OSError:
        yield
        return
    with lock:
        # An error is that of a file system that keeps no locks.
        with contextlib.suppress(OSError):
            _wait_for_turn(lock, what)
        yield


def _wait_for_turn(lock: IO[str], what: str) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"Waiting: another process is {what}.", file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)


@contextlib.contextmanager
def scratch_folder(home: Path | None, prefix: str) -> Iterator[Path]:
    """Give an empty folder in `home` (None: where temporary files go) that is gone afterwards."""
    if home is not None:
        _remove_stale(home, prefix)
    with tempfile.TemporaryDirectory(dir=home, prefix=prefix) as made:
        yield Path(made)


def _remove_stale(home: Path, prefix: str) -> None:
    for left in home.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > SECONDS_OF_A_DAY:
                shutil.rmtree(left)
