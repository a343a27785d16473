"""Deleting in two steps: a run moves to a trash inside the store, whence it can come back until that is emptied."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from glt.errors import StoreError
from glt.store import paths
from glt.store.lock import briefly_locked, is_locked
from glt.store.readers import check_unread
from glt.store.run import Run
from glt.store.run_folder import folder_size
from glt.store.safe_files import make_folder, reading, writing

# A run may be deleted, computed again and deleted again: the greatest number is the newest.
NUMBERED = re.compile(r"(?P<name>.+)\.(?P<number>[1-9]\d{0,17})")


def move_to_trash(root: Path, folder: Path, readers: Sequence[Run] = ()) -> None:
    """Move a run's folder in the store at `root`, whether or not it can be opened, to the trash.

    Raises StoreError when a worker still uses it, when one of the runs that read it is not complete, when it lies
    elsewhere, or when a symbolic link is in the way.
    """
    if folder.parent.resolve() != root.resolve() and paths.is_in_examples(folder):
        name = f"{paths.EXAMPLES_PREFIX}{folder.name}"
        raise StoreError(f"{name} comes with GLT Studio and cannot be deleted: hide it instead (annotate --hide).")
    if folder.parent.resolve() != root.resolve() or folder.is_symlink():
        raise StoreError(f"{folder} is not a folder of the store {root}, so it is left alone: delete it by hand.")
    busy = _seeds_at_work(folder)
    if busy:
        raise StoreError(f"The run {folder.name} is at work (seed {busy[0]}): stop it, then delete it.")
    check_unread(folder.name, readers)
    trash = _trash(root)
    make_folder(trash)
    with writing(trash):
        folder.rename(_free_name(trash, folder.name))


def trashed(root: Path) -> list[Path]:
    """Return what lies in the trash, by name."""
    trash = _trash(root)
    return sorted(trash.iterdir()) if trash.exists() else []


def restorable(root: Path) -> dict[str, Path]:
    """Return the runs that can come back, by name, each with the newest of its folders in the trash."""
    numbered = [(match, path) for path in trashed(root) if (match := _numbered(path)) is not None]
    return {match["name"]: path for match, path in sorted(numbered, key=lambda found: int(found[0]["number"]))}


def restore(root: Path, name: str) -> Path:
    """Bring the newest folder of that name back from the trash and return where it lies.

    Raises StoreError when the trash holds none or the store holds one of that name again.
    """
    held = restorable(root)
    if name not in held:
        known = f"it holds {', '.join(sorted(held))}" if held else "it holds no run"
        raise StoreError(f"The trash of the store {root} holds no run {name!r}: {known}.")
    with briefly_locked(root / paths.CONFIG_LOCK):
        place = root / name
        if os.path.lexists(place):
            raise StoreError(
                f"The store {root} holds a run {name} again: keep that one, or move its folder out of the store and "
                "restore once more."
            )
        with writing(place):
            held[name].rename(place)
    return place


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
    matches = [match for path in trash.iterdir() if (match := NUMBERED.fullmatch(path.name)) is not None]
    newest = max((int(match["number"]) for match in matches if match["name"] == name), default=0)
    return trash / f"{name}.{newest + 1}"


def _numbered(path: Path) -> re.Match[str] | None:
    return NUMBERED.fullmatch(path.name) if path.is_dir() and not path.is_symlink() else None
