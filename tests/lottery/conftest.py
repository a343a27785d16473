"""Small real runs: a planted two-class graph, few hidden units, few epochs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from glt.lottery.lottery import find_tickets
from glt.presets import resolve
from glt.store import Progress, SeedRun, Store

SMALL = {"hidden": 16, "epochs": 6, "retrain_epochs": 6, "rounds": 2}


class Watcher:
    """An observer that remembers progress and stops after a number of reports."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.seen: list[Progress] = []
        self._stop_after = stop_after

    def on_progress(self, progress: Progress) -> None:
        self.seen.append(progress)

    def should_stop(self) -> bool:
        return self._stop_after is not None and len(self.seen) >= self._stop_after


@pytest.fixture
def watch() -> type[Watcher]:
    """The observer, for tests that look at progress or stop somewhere."""
    return Watcher


@pytest.fixture
def small() -> dict[str, int]:
    """Settings of a run that takes a second."""
    return dict(SMALL)


@pytest.fixture
def compute(tmp_path: Path) -> Callable[..., SeedRun]:
    """Compute a small run on real Cora in a store of the test's own; settings by keyword."""

    def run(seed: int = 0, store: str = "store", observer: Watcher | None = None, **settings: object) -> SeedRun:
        config = resolve({**SMALL, **settings})
        seed_run = Store(tmp_path / store).create(config).seed(seed)
        with seed_run.lock():
            find_tickets(seed_run, observer or Watcher())
        return seed_run

    return run
