"""Commands as people type them, and the environment of processes that the program starts of itself."""

from __future__ import annotations

import os
import shlex
import site
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def command(*arguments: object) -> str:
    """Return what to type for `python -m glt` with these arguments, quoted so that a path with a space is one of them.

    >>> command("resume", "my runs/a")
    "python -m glt resume 'my runs/a'"
    """
    return shlex.join(["python", "-m", "glt", *map(str, arguments)])


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
