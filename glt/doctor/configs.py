"""Looking at a config.json that a folder cannot be opened by: without it nothing else in the folder means anything."""

from __future__ import annotations

from pathlib import Path

from glt.doctor.finding import Finding, moved, what_it_is
from glt.errors import StoreError
from glt.store import paths
from glt.store.naming import owner_of
from glt.store.setting_aside import is_usable

REMEDY = "bring it back from a copy, or start a run with the same settings, which takes over what was computed"


def config_finding(folder: Path, error: StoreError) -> Finding:
    """Return what is wrong with the config.json of a folder that cannot be opened for this `error`."""
    path = folder / paths.CONFIG
    if "update GLT Studio" in str(error):
        return Finding(path, "was written by a newer GLT Studio", "update GLT Studio")
    if not path.exists() and not path.is_symlink():
        return _without(folder)
    if not is_usable(path):
        return moved(path, what_it_is(path), REMEDY)
    owner = owner_of(folder)
    if owner is not None and owner != folder.name:
        then = f"name the folder {owner} again where it was renamed, else undo the change in the file"
        return Finding(path, f"is of the run {owner}, not of this folder", then)
    return moved(path, "is damaged", REMEDY)


def _without(folder: Path) -> Finding:
    seeds = [path for path in folder.iterdir() if paths.seed_of(path.name) is not None]
    if seeds:
        return Finding(folder / paths.CONFIG, "is missing", REMEDY)
    return Finding(folder, "is no run", "move it out of the store")
