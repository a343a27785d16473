"""Deleting in two steps: a run moves to a trash inside the store, and the trash is emptied on request."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from glt.errors import StoreError
from glt.store import paths
from glt.store.lock import is_locked
from glt.store.run_folder import folder_size
from glt.store.safe_files import make_folder, reading, writing


def move_to_trash(root: Path, folder: Path) -> None:
    """Move a run's folder in the store at `root`, whether or not it can be opened, to the trash.

    Raises StoreError when a worker still uses it, when it lies elsewhere, or when a symbolic link is in the way.
    """
    if folder.parent.resolve() != root.resolve() or folder.is_symlink():
        raise StoreError(f"{folder} is not a folder of the store {root}, so it is left alone: delete it by hand.")
    busy = _seeds_at_work(folder)
    if busy:
        raise StoreError(f"The run {folder.name} is at work (seed {busy[0]}): stop it, then delete it.")
    trash = _trash(root)
    make_folder(trash)
    with writing(trash):
        folder.rename(_free_name(trash, folder.name))


def trashed(root: Path) -> list[Path]:
    """Return what lies in the trash, by name."""
    trash = _trash(root)
    return sorted(trash.iterdir()) if trash.exists() else []


def empty_trash(root: Path) -> int:
    """Delete what lies in the trash and return the bytes freed; symbolic links go, what they point to stays."""
    freed = sum(folder_size(path) for path in trashed(root) if not path.is_symlink())
    for path in trashed(root):
        with writing(path):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    return freed


def _seeds_at_work(folder: Path) -> list[int]:
    with reading(folder, "allow it to be read, then delete it"):
        seeds = [seed for path in folder.iterdir() if (seed := paths.seed_of(path.name)) is not None]
    return [seed for seed in sorted(seeds) if is_locked(paths.seed_folder(folder, seed) / paths.LOCK)]


def _trash(root: Path) -> Path:
    trash = root / paths.TRASH
    if trash.is_symlink():
        raise StoreError(f"{trash} is a symbolic link, which is not followed to delete: remove the link.")
    return trash


def _free_name(trash: Path, name: str) -> Path:
    taken: Iterable[str] = {path.name for path in trash.iterdir()}
    number = 1
    while f"{name}.{number}" in taken:
        number += 1
    return trash / f"{name}.{number}"
