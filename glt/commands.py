"""Commands as people type them, and the environment of processes that the program starts of itself."""

from __future__ import annotations

import os
import shlex
import shutil
import site
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@lru_cache(maxsize=1)
def program() -> tuple[str, ...]:
    """Return how the program is called here: `glt`, or `python -m glt` where the console script is not installed."""
    beside = Path(sys.executable).with_name("glt")
    return ("glt",) if beside.exists() or shutil.which("glt") else ("python", "-m", "glt")


def command(*arguments: object) -> str:
    """Return what to type for a verb with these arguments, quoted so that a path with a space is one of them.

    >>> command("resume", "my runs/a").endswith("glt resume 'my runs/a'")
    True
    """
    return shlex.join([*program(), *map(str, arguments)])


def own_environment() -> dict[str, str]:
    """Return the environment in which `python -m glt...` is this copy of the program.

    Alone, `python -m` looks into the working folder first and would run whatever is called `glt` there; Python 3.10
    still does. A copy that is not installed is put on the path.
    """
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    if ROOT not in [Path(folder).resolve() for folder in site.getsitepackages()]:
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(path)
    return environment
