"""Planetoid's raw files: where they lie, whether they are the published ones, and what to do with half a set."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from glt.errors import DataError
from glt.user_path import path_from_environment

_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
_PUBLISHED = Path(__file__).with_name("planetoid_sha256.json")


def cache_folder() -> Path:
    """Return the user's cache folder for this program: `GLT_CACHE`, or glt-studio in `XDG_CACHE_HOME` or ~/.cache."""
    if named := path_from_environment("GLT_CACHE"):
        return named
    return (path_from_environment("XDG_CACHE_HOME") or Path.home() / ".cache") / "glt-studio"


def data_root() -> Path:
    """Return the folder of downloaded data sets: `GLT_DATA`, by default in the user's cache folder."""
    return path_from_environment("GLT_DATA") or cache_folder() / "data"


def planetoid_root(folder: str) -> Path:
    """Return the root to give to PyG for its data set `folder`: `planetoid` in the data root, or that root itself.

    The data root is `GLT_DATA`, by default in the user's cache folder. The second form lets `GLT_DATA` name a folder
    that PyG has been using already.
    """
    root = data_root()
    return root if (root / folder / "raw").is_dir() else root / "planetoid"


def is_at_hand(folder: str) -> bool:
    """Say whether the data set `folder` can be opened without a download."""
    return is_complete(planetoid_root(folder), folder)


def is_complete(root: Path, folder: str) -> bool:
    """Say whether all raw files of the data set `folder` are there."""
    return all(path.is_file() for path in _paths(root, folder))


def check_published(root: Path, folder: str) -> None:
    """Raise DataError unless every raw file has its published SHA-256: opening a pickle runs what its author put in."""
    published = json.loads(_PUBLISHED.read_text(encoding="utf-8"))
    for path in _paths(root, folder):
        if hashlib.sha256(path.read_bytes()).hexdigest() != published[f"{folder}/raw/{path.name}"]:
            raise DataError(
                f"{path} is not the published file (its SHA-256 differs), so it was not opened: "
                f"delete {root / folder} and start again to download it."
            )


def remove_half_made(root: Path, folder: str) -> None:
    """Remove Planetoid's own files and the folders that are empty then, never anything else that a user keeps there."""
    with contextlib.suppress(OSError):
        for path in _paths(root, folder):
            path.unlink(missing_ok=True)
        (root / folder / "raw").rmdir()
        (root / folder).rmdir()


def _paths(root: Path, folder: str) -> list[Path]:
    return [root / folder / "raw" / f"ind.{folder.lower()}.{part}" for part in _PARTS]
