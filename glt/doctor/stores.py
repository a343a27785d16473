"""Looking at what lies in a store beside its runs: annotations, the queue, and what does not belong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from glt.doctor.finding import Finding, moved, what_it_is
from glt.jobs.queueing import TICKET
from glt.store import Store, paths
from glt.store.lock import is_locked
from glt.store.setting_aside import is_usable

SAID = "titles and notes in it cannot be made again"


def store_findings(store: Store) -> Iterator[Finding]:
    """Find what is damaged, left over or out of place in a store's own folder."""
    if not store.root.is_dir():
        return
    yield from _annotations(store)
    for path in sorted(store.root.iterdir()):
        if path.name.endswith(paths.UNFINISHED_WRITE):
            yield moved(path, "was being written when its process ended", "")
        elif not path.name.startswith((".", paths.ANNOTATIONS)) and not path.is_dir():
            yield moved(path, "does not belong in a store", "")
    yield from _queue(store.queue_path)


def _annotations(store: Store) -> Iterator[Finding]:
    path = store.root / paths.ANNOTATIONS
    if path.is_symlink() or path.exists():
        if not is_usable(path):
            yield moved(path, what_it_is(path), SAID)
        elif damage := store.annotations().damage:
            partly = "cannot be read" in damage
            wrong = damage.removeprefix(f"{path} ").split(":")[0].split(", so")[0]
            yield Finding(path, wrong, "annotate it again") if partly else moved(path, wrong, SAID)


def _queue(queue: Path) -> Iterator[Finding]:
    """Find places in the line whose processes are gone; the next worker that waits would clear them away too."""
    if queue.is_dir():
        for path in sorted(queue.rglob(f"*{TICKET}")):
            if not is_usable(path) or not is_locked(path):
                yield moved(path, "is the place in the queue of a process that is gone", "")
