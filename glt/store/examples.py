"""The example runs that come with the program."""

from __future__ import annotations

import copy
from functools import lru_cache
from pathlib import Path

from glt.store.paths import EXAMPLES
from glt.store.run import Run
from glt.store.store import Store


def bundled_examples(folder: Path = EXAMPLES, annotated_in: Path | None = None) -> list[Run]:
    """Return the example runs below a folder, by name; none where the program was installed without them.

    `annotated_in` is the root of the store that holds what a person says about them.
    """
    runs = Store(folder, writable=False).runs()
    return runs if annotated_in is None else [_annotated(run, annotated_in) for run in runs]


@lru_cache(maxsize=1000)
def _annotated(run: Run, root: Path) -> Run:
    """Return the run as a store at `root` knows it; the same object every time, as what was read of it is kept."""
    copied = copy.copy(run)
    copied.annotated_in = root
    return copied
