"""Deleting in two steps: a run moves to a trash inside the store, and the trash is emptied on request."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from glt.errors import StoreError
from glt.store import paths
from glt.store.lock import is_locked
from glt.store.run_folder import AnyRun, folder_size
from glt.store.safe_files import make_folder, writing


def move_to_trash(root: Path, run: AnyRun) -> None:
    """Move a run of the store at `root` to its trash.

    Raises StoreError when a worker still uses it, when it lies elsewhere, or when a symbolic link is in the way.
    """
    if run.path.parent.resolve() != root.resolve() or run.path.is_symlink():
        raise StoreError(f"{run.path} is not a folder of the store {root}, so it is left alone: delete it by hand.")
    busy = [seed for seed in run.seeds() if is_locked(run.seed(seed).lock_path)]
    if busy:
        raise StoreError(f"The run {run.name} is at work (seed {busy[0]}): stop it, then delete it.")
    trash = _trash(root)
    make_folder(trash)
    with writing(trash):
        run.path.rename(_free_name(trash, run.name))


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
