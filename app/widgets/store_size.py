"""How large the store is, counted beside the page so that a store of many files does not hold it up."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from glt.store import Store

# Seconds a page waits for a count that has not ended, and until a count is made anew.
PATIENCE = 0.2
OLD = 30.0


@dataclass
class _Count:
    """The last count of a store and the thread that makes the next one."""

    size: int | None = None
    made: float = -OLD
    lock: threading.Lock = field(default_factory=threading.Lock)


def size_of(store: Store) -> int | None:
    """Return the bytes in all files of the store, at most half a minute old; None while they are counted first."""
    count = _count(store.root.absolute())
    if time.monotonic() - count.made > OLD:
        thread = threading.Thread(target=_refresh, args=(count, store), daemon=True)
        thread.start()
        thread.join(PATIENCE)
    return count.size


def forget() -> None:
    """Count anew at the next look, because something was deleted."""
    _count.clear()


@st.cache_resource(max_entries=16, show_spinner=False)
def _count(root: Path) -> _Count:
    return _Count()


def _refresh(count: _Count, store: Store) -> None:
    if not count.lock.acquire(blocking=False):
        return
    try:
        if time.monotonic() - count.made > OLD:
            count.size, count.made = store.size_bytes(), time.monotonic()
    finally:
        count.lock.release()
