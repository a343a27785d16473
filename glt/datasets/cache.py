"""The cache of large graphs: filled by one process at a time, read by all; locks, temporary folders, free space.

`python -m glt.datasets.cache NAME` reads a data set, so that it is in the cache.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from glt.errors import DataError, StudioError
from glt.formats import file_size, own_environment
from glt.user_path import free_bytes

# Set in the app: this process downloads nothing and reads no large raw files; another process fills the cache.
only_cached = threading.Event()
# No download takes a day: a temporary folder that is older was left by a killed process.
SECONDS_OF_A_DAY = 86_400


def fill_cache(name: str) -> None:
    """Let another process read the data set `name` into the cache; raises DataError with what it said."""
    command = [sys.executable, "-m", "glt.datasets.cache", name]
    done = subprocess.run(
        command, env=own_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"{name} could not be read"]
        raise DataError(said[-1])


def main() -> int:
    """Read the data set that the command line names; return 0, or 1 with one line on standard error."""
    from glt.datasets.registry import load_graph

    try:
        load_graph(sys.argv[1])
    except StudioError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def file_lock(path: Path, purpose: str) -> Iterator[None]:
    """Hold the lock `path`; say on standard error that another process is `purpose` ("reading cora") meanwhile.

    Where no lock can be made the work goes on without: it may then be done twice, which costs time only.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("w")
    except OSError:
        yield
        return
    with lock:
        # Some file systems keep no locks.
        with contextlib.suppress(OSError):
            _acquire(lock, purpose)
        yield


def _acquire(lock: IO[str], purpose: str) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"Waiting: another process is {purpose}.", file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)


@contextlib.contextmanager
def scratch_folder(home: Path, prefix: str) -> Iterator[Path]:
    """Make a temporary folder in `home`, and remove those of killed processes with the same prefix."""
    for left in home.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > SECONDS_OF_A_DAY:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(dir=home, prefix=prefix) as made:
        yield Path(made)


def check_room(folder: Path, wanted: int, purpose: str) -> None:
    """Raise DataError, before anything is written, when fewer than `wanted` bytes are free for `folder`."""
    free = free_bytes(folder)
    if free < wanted:
        raise DataError(
            f"{file_size(wanted)} are needed {purpose} and {file_size(free)} are free where {folder} is: make room."
        )


if __name__ == "__main__":
    sys.exit(main())
