"""For the app, which fetches nothing and holds no features: raw files are read once by a process of their own.

`python -m glt.data.reading_apart NAME` reads a data set, so that its cache is there.
"""

from __future__ import annotations

import subprocess
import sys
import threading

from glt.commands import own_environment
from glt.errors import DataError, StudioError

# Set: this process maps what others have read, downloads nothing, and reads no large raw files.
only_apart = threading.Event()


def read_apart(name: str) -> None:
    """Let another process read the data set `name` into the cache; raises DataError with what it said."""
    command = [sys.executable, "-m", "glt.data.reading_apart", name]
    done = subprocess.run(
        command, env=own_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"{name} could not be read"]
        raise DataError(said[-1])


def main() -> int:
    """Read the data set that the command line names; return 0, or 1 with one line on standard error."""
    from glt.data.registry import load_graph

    try:
        load_graph(sys.argv[1])
    except StudioError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
