"""Opening a folder of the store as what its config.json says it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from glt.commands import command
from glt.config import make_config
from glt.errors import ConfigError, StoreError
from glt.printable import quoted
from glt.store import paths
from glt.store.json_files import read_json
from glt.store.naming import run_name
from glt.store.pretraining import PRETRAINING, Pretraining
from glt.store.remembered import remembered
from glt.store.run import KIND, RUN, Run, read_document
from glt.store.run_folder import REMEDY

# Whatever else a folder may hold one day gets a line here.
KnownRun = Run | Pretraining
KINDS: dict[str, Callable[[Path, bool], KnownRun]] = {RUN: Run.open, PRETRAINING: Pretraining.open}


def known_folder(path: Path, writable: bool = True) -> KnownRun:
    """Open a run as `open_folder` does, again only when its config.json has changed since it was opened last."""
    return (_WRITABLE if writable else _READ_ONLY)(paths.inside(path, paths.CONFIG))


def open_folder(path: Path, writable: bool = True) -> KnownRun:
    """Open a run of any kind; raises StoreError when it cannot be opened, or its kind is unknown here."""
    config = path / paths.CONFIG
    remedy = REMEDY if os.path.lexists(config) else remedy_without_config(path)
    kind = read_document(config, remedy).get(KIND, RUN)
    if kind not in KINDS:
        raise StoreError(f"{path} holds something this GLT Studio does not know ({quoted(kind)}): update GLT Studio.")
    return KINDS[kind](path, writable)


def remedy_without_config(folder: Path) -> str:
    """Return what to do about a run's folder without a config.json; names the damaged one where it was set aside."""
    copies = sorted((folder / paths.ASIDE).glob(f"*/{paths.CONFIG}*"))
    if not copies:
        return REMEDY
    if not _tells_settings(copies[-1], folder.name):
        return (
            f"the damaged one is {copies[-1]}; start a run with the settings it had (python -m glt run), which takes "
            "over what was computed"
        )
    again = command("run", "--config", copies[-1], "--store", folder.parent)
    return f"the damaged one is {copies[-1]}, and its settings fit the folder's name: `{again}` goes on with them"


def _tells_settings(copy: Path, name: str) -> bool:
    """Say whether the settings in a damaged file are those that a run's name was made of."""
    try:
        return run_name(make_config(read_json(copy, "")["config"])) == name
    except (StoreError, ConfigError, KeyError, TypeError):
        return False


_WRITABLE = remembered(lambda config: open_folder(config.parent, writable=True))
_READ_ONLY = remembered(lambda config: open_folder(config.parent, writable=False))
