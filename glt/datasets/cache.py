"""The cache of large graphs: lock, temporary folders, free space.

`python -m glt.datasets.cache NAME` loads a data set into the cache. One process at a time fills it.
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

from glt.errors import DataError, StudioError
from glt.formats import file_size, own_environment
from glt.user_path import free_bytes

# Set in the app: this process downloads nothing and reads no large raw files; another process fills the cache.
only_cached = threading.Event()
# No download takes a day: a temporary folder that is older was left by a killed process.
SECONDS_OF_A_DAY = 86_400


def fill_cache(name: str) -> None:
    """Load the data set `name` into the cache in another process; raise DataError with its error."""
    command = [sys.executable, "-m", "glt.datasets.cache", name]
    done = subprocess.run(
        command, env=own_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        messages = done.stderr.strip().splitlines() or [f"{name} could not be loaded"]
        raise DataError(messages[-1])


def main() -> int:
    """Load the data set named on the command line; return the exit code."""
    from glt.datasets.registry import load_graph

    try:
        load_graph(sys.argv[1])
    except StudioError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def file_lock(path: Path, purpose: str) -> Iterator[None]:
    """Hold the lock `path`; while waiting, report that another process is `purpose`.

    Without a lock, as on some file systems, the work may be done twice, which costs only time.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("w")
    except OSError:
        yield
        return
    with lock:
        # Some file systems do not support locks.
        with contextlib.suppress(OSError):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"Waiting: another process is {purpose}.", file=sys.stderr, flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
    """Raise DataError if fewer than `wanted` bytes are free at `folder`."""
    free = free_bytes(folder)
    if free < wanted:
        raise DataError(
            f"{file_size(wanted)} are needed {purpose}, but only {file_size(free)} are free at {folder}: free some "
            "space."
        )


if __name__ == "__main__":
    sys.exit(main())
