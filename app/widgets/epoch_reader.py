"""One reader a seed for every tab: what a round's epochs are now, read on from where the last look ended."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import streamlit as st

from glt.store import NO_EPOCHS, Epochs, Run, SeedRun

# Seconds for which a look serves every tab; pages look again every two.
FRESH = 1.0
# Rounds of a seed that are kept: the last one and one that somebody looks at.
MOST_ROUNDS = 2


class Read(NamedTuple):
    """The epochs of a round, and what changes with them."""

    epochs: Epochs
    stamp: tuple[int, int, bytes]


@dataclass(frozen=True)
class _Kept:
    start: int
    end: int
    before: bytes
    epochs: Epochs


class Reader:
    """The events of one seed: a round's as columns, never the whole file."""

    def __init__(self, seed_run: SeedRun) -> None:
        self._file = seed_run.event_file
        self._lock = threading.Lock()
        self._looked = -FRESH
        self._seen: tuple[int, ...] = ()
        self._starts: dict[int, int] = {}
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._current: set[int] = set()

    def rounds(self) -> list[int]:
        """Return the rounds that have epochs, in order."""
        with self._lock:
            self._look()
            return list(self._starts)

    def epochs(self, number: int) -> Read:
        """Return the epochs of a round; raises StoreError for a damaged line of it."""
        with self._lock:
            self._look()
            if number not in self._starts:
                return Read(NO_EPOCHS, (0, 0, b""))
            if number not in self._current:
                self._kept[number] = self._read(number, self._kept.get(number))
                self._current.add(number)
            self._kept.move_to_end(number)
            while len(self._kept) > MOST_ROUNDS:
                self._current.discard(self._kept.popitem(last=False)[0])
            kept = self._kept[number]
            return Read(kept.epochs, (kept.start, kept.end, kept.before))

    def _look(self) -> None:
        """Find out where rounds begin when the file has changed since the last look."""
        if time.monotonic() - self._looked < FRESH:
            return
        seen = self._stamp()
        if seen != self._seen or not seen:
            self._starts, self._seen = self._file.starts(), seen
            self._current.clear()
        self._looked = time.monotonic()

    def _read(self, number: int, kept: _Kept | None) -> _Kept:
        start = self._starts[number]
        # A resume cuts the file: what was kept stands only while its end does.
        if kept is None or kept.start != start or self._file.before(kept.end) != kept.before:
            kept = _Kept(start, start, b"", NO_EPOCHS)
        new, end = self._file.epochs(number, kept.end)
        epochs = kept.epochs.followed_by(new) if len(kept.epochs) else new
        return _Kept(start, end, self._file.before(end), epochs)

    def _stamp(self) -> tuple[int, ...]:
        try:
            found = self._file.path.stat()
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns


def reader_of(run: Run, seed: int) -> Reader:
    """Return the one reader of a seed's events."""
    seed_run = run.seed(seed)
    return _reader(str(seed_run.path.absolute()), seed_run)


@st.cache_resource(max_entries=32, show_spinner=False)
def _reader(path: str, _seed_run: SeedRun) -> Reader:
    return Reader(_seed_run)
