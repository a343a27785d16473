"""Opening a folder of the store as what its config.json says it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from glt.errors import StoreError
from glt.printable import quoted
from glt.store import paths
from glt.store.lost_config import remedy_without_config
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


_WRITABLE = remembered(lambda config: open_folder(config.parent, writable=True))
_READ_ONLY = remembered(lambda config: open_folder(config.parent, writable=False))
