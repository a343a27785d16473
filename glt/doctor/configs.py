"""Looking at a config.json that a folder cannot be opened by: without it nothing else in the folder means anything."""

from __future__ import annotations

from pathlib import Path

from glt.doctor.finding import Finding, moved, what_it_is
from glt.doctor.stores import looks_like_store
from glt.errors import StoreError
from glt.store import Store, paths
from glt.store.json_files import read_json
from glt.store.lost_config import remedy_without_config
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
    # Many programs write a config.json: one is only moved where the folder's name too says that it is a run's.
    if owner_of(folder) is None and not _looks_like_run(folder):
        return _no_run(folder)
    if not is_usable(path):
        return moved(path, what_it_is(path), REMEDY)
    owner = owner_of(folder)
    if owner is not None and owner != folder.name:
        then = f"name the folder {owner} again where it was renamed, else undo the change in the file"
        return Finding(path, f"is of the run {owner}, not of this folder", then)
    return moved(path, "is damaged", REMEDY)


def _without(folder: Path) -> Finding:
    if _has_form_of_run(folder):
        return Finding(folder / paths.CONFIG, "is missing", remedy_without_config(folder))
    return _no_run(folder)


def _looks_like_run(folder: Path) -> bool:
    """Say whether a folder whose config.json cannot be used is a run all the same."""
    if not _has_form_of_run(folder):
        return False
    try:
        document = read_json(folder / paths.CONFIG, "")
    except StoreError:
        return True
    return isinstance(document, dict) and bool({"schema", "config"} & set(document))


def _has_form_of_run(folder: Path) -> bool:
    return paths.has_run_name(folder.name) and any(paths.seed_of(path.name) is not None for path in folder.iterdir())


def _no_run(folder: Path) -> Finding:
    in_store = looks_like_store(Store(folder.parent, writable=False))
    then = "move it out of the store" if in_store else "give the name or the folder of a run"
    return Finding(folder, "is no run", then)
