"""Looking at what lies in a store beside its runs: annotations, the queue, and what does not belong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from glt.doctor.finding import Finding, foreign, moved, what_it_is
from glt.doctor.strays import strays
from glt.errors import StoreError
from glt.jobs.queueing import TICKET
from glt.store import Store, paths
from glt.store.annotations import is_of_others
from glt.store.lock import is_locked
from glt.store.naming import owner_of
from glt.store.setting_aside import is_usable

SAID = "titles and notes in it cannot be made again"
MARKS = (paths.CONFIG_LOCK, paths.ANNOTATIONS_LOCK, paths.QUEUE)


def check_store(store: Store) -> None:
    """Raise StoreError for a folder in which nothing shows that it is a store: nothing in it is looked at or moved."""
    root = store.root
    if not root.exists():
        return
    if not root.is_dir():
        raise StoreError(f"{root} is no folder, so no store: name one with --store or GLT_STORE.")
    if not looks_like_store(store) and any(root.iterdir()):
        raise StoreError(f"{root} is no store: no run lies in it; name the folder your runs are in with --store.")


def looks_like_store(store: Store) -> bool:
    """Say whether a folder holds what only a store does: a run, also a renamed one, or what it keeps beside runs."""
    folders = store.folders()
    return (
        any(paths.has_run_name(folder.name) for folder in folders)
        or any((store.root / mark).exists() for mark in MARKS)
        or any(owner_of(folder) is not None for folder in folders)
    )


def store_findings(store: Store) -> Iterator[Finding]:
    """Find what is damaged, left over or out of place in a store's own folder."""
    if not store.root.is_dir():
        return
    yield from _annotations(store)
    folders = {folder.name for folder in store.folders()}
    yield from strays(store.root, lambda name: name.startswith(paths.ANNOTATIONS) or name in folders)
    yield from _queue(store.queue_path)


def _annotations(store: Store) -> Iterator[Finding]:
    path = store.root / paths.ANNOTATIONS
    if path.is_symlink() or path.exists():
        if not is_usable(path):
            yield moved(path, what_it_is(path), SAID)
        elif is_of_others(path):
            yield foreign(path)
        elif damage := store.annotations().damage:
            partly = "cannot be read" in damage
            wrong = damage.removeprefix(f"{path} ").split(":")[0].split(", so")[0]
            yield Finding(path, wrong, "annotate it again") if partly else moved(path, wrong, SAID)


def _queue(queue: Path) -> Iterator[Finding]:
    """Find places in the line whose processes are gone; the next worker that waits would clear them away too.

    Where the file system keeps no locks nobody can tell, which the examination of the machine says.
    """
    if queue.is_dir() and not queue.is_symlink():
        for path in sorted(queue.rglob(f"*{TICKET}")):
            with suppress(StoreError):
                if not is_usable(path) or not is_locked(path):
                    yield moved(path, "is the place in the queue of a process that is gone", "")
