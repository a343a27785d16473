"""The example runs that come with the program."""

from __future__ import annotations

import copy
from functools import lru_cache
from pathlib import Path

from glt.store import paths
from glt.store.run import Run
from glt.store.store import Store


def bundled_examples(folder: Path | None = None, annotated_in: Path | None = None) -> list[Run]:
    """Return the example runs below a folder, by name: by default those of the program, none where it has none.

    `annotated_in` is the root of the store that holds what a person says about them.
    """
    return [_bundled(run, annotated_in) for run in Store(folder or paths.EXAMPLES, writable=False).runs()]


@lru_cache(maxsize=1000)
def _bundled(run: Run, root: Path | None) -> Run:
    """Return the run as a store at `root` knows it; the same object every time, as what was read of it is kept."""
    copied = copy.copy(run)
    copied.is_bundled = True
    copied.annotated_in = root or run.annotated_in
    return copied
