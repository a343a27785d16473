"""Commands as people type them, quoted so that a path with a space in it stays one argument."""

from __future__ import annotations

import shlex


def command(*arguments: object) -> str:
    """Return what to type for `python -m glt` with these arguments.

    >>> command("resume", "my runs/a")
    "python -m glt resume 'my runs/a'"
    """
    return shlex.join(["python", "-m", "glt", *map(str, arguments)])
