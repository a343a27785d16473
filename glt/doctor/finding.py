"""What the doctor finds: a file, what is wrong with it, and what mending does about it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glt.store.setting_aside import Aside

Mend = Callable[[Aside], object]


@dataclass(frozen=True)
class Finding:
    """Something wrong with `path`; `then` says what `mend` does about it, or what a person can do where it is None.

    `moves` says that it is mended by moving `path` alone, before anything else is put in order. `is_fault` is False of
    what is somebody else's.
    """

    path: Path
    wrong: str
    then: str
    mend: Mend | None = None
    moves: bool = False
    is_fault: bool = True

    @property
    def sentence(self) -> str:
        """What is wrong and what would be done, in one line."""
        return f"{self.path} {self.wrong}: {'with --mend, ' if self.mend else ''}{self.then}."

    def as_json(self) -> dict[str, Any]:
        """Return the entry that `glt doctor --json` prints."""
        return {
            "file": str(self.path),
            "wrong": self.wrong,
            "then": self.then,
            "can_be_mended": self.mend is not None,
            "is_fault": self.is_fault,
        }


def moved(path: Path, wrong: str, then: str) -> Finding:
    """Return a finding that is mended by moving `path` aside; `then` says what comes of that."""
    told = f"it is set aside; {then}" if then else "it is set aside"
    return Finding(path, wrong, told, lambda aside: aside.move(path), moves=True)


def foreign(path: Path) -> Finding:
    """Return a finding on something that GLT Studio did not write, which is never touched."""
    return Finding(path, "is not GLT Studio's", "it stays as it is", is_fault=False)


def what_it_is(path: Path) -> str:
    """Say what stands in the place of a file that cannot be opened."""
    if path.is_symlink() and not path.exists():
        return "is a symbolic link that leads nowhere"
    try:
        if path.is_dir():
            return "is a folder where a file belongs"
        if not stat.S_ISREG(path.stat().st_mode):
            return "is no ordinary file"
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        return f"cannot be read ({os.strerror(error.errno or 0)})"
    return "is damaged"
