"""Moving what is damaged out of the way, into a folder of the run, so that nothing is lost by mending it."""

from __future__ import annotations

import os
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

from glt.errors import StoreError
from glt.store import paths
from glt.store.safe_files import make_folder, refuse_link, writing


class Aside:
    """One folder below `root`, a run's or a store's, in which what is moved out of the way keeps its place.

    It is made by the first thing that is moved and named after that moment.
    """

    def __init__(self, root: Path, name: str = paths.ASIDE) -> None:
        self._root = root
        self._parent = root / name
        self.folder: Path | None = None

    def move(self, path: Path) -> Path:
        """Move a file, folder or symbolic link (never what it leads to) and return where it is now; gone is fine.

        Raises StoreError where a folder on the way to it is a symbolic link: what lies there is not of the run.
        """
        place = self._place(path)
        with writing(path), suppress(FileNotFoundError):
            path.rename(place)
        return place

    def copy(self, path: Path) -> Path | None:
        """Keep a copy of a file that is about to be cut; None where it cannot be read."""
        if not is_usable(path):
            return None
        place = self._place(path)
        with writing(place):
            shutil.copy2(path, place)
        return place

    def _place(self, path: Path) -> Path:
        refuse_link(*(self._root / folder for folder in path.relative_to(self._root).parents if folder != Path()))
        if self.folder is None:
            self.folder = _new_folder(self._parent)
        place = self.folder / path.relative_to(self._root)
        make_folder(place.parent)
        number = 1
        while os.path.lexists(place):
            number += 1
            place = place.with_name(f"{path.name}.{number}")
        return place


def is_usable(path: Path) -> bool:
    """Say whether something is a file that can be read, itself or by a symbolic link."""
    try:
        # A pipe that nobody writes to would be waited for.
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def _new_folder(parent: Path) -> Path:
    """Make a folder named after this moment."""
    if parent.is_symlink():
        raise StoreError(f"{parent} is a symbolic link, which is not followed to move files there: remove the link.")
    name, number = time.strftime("%Y%m%d-%H%M%S"), 1
    make_folder(parent)
    while True:
        folder = parent / (name if number == 1 else f"{name}.{number}")
        with writing(folder):
            try:
                folder.mkdir()
            except FileExistsError:
                number += 1
            else:
                return folder
