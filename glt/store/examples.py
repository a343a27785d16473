"""The example runs that come with the program."""

from __future__ import annotations

from pathlib import Path

from glt.store.paths import EXAMPLES
from glt.store.run import Run
from glt.store.store import Store


def bundled_examples(folder: Path = EXAMPLES) -> list[Run]:
    """Return the example runs below a folder, by name; none where the program was installed without them."""
    return Store(folder, writable=False).runs()
