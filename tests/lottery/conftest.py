"""Small real runs: a planted two-class graph, few hidden units, few epochs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from glt.lottery.lottery import compute_rounds
from glt.presets import resolve
from glt.store import SeedRun, Store
from tests.conftest import Watcher

SMALL = {"hidden": 16, "epochs": 6, "retrain_epochs": 6, "rounds": 2}
Compute = Callable[..., SeedRun]


@pytest.fixture
def compute(tmp_path: Path) -> Compute:
    """Compute a small run on real Cora in a store of the test's own; settings by keyword."""

    def run(
        seed: int = 0,
        store: str = "store",
        observer: Watcher | None = None,
        preset: str | None = None,
        **settings: object,
    ) -> SeedRun:
        config = resolve({**SMALL, **settings}, preset)
        seed_run = Store(tmp_path / store).create(config).seed(seed)
        with seed_run.lock():
            compute_rounds(seed_run, observer or Watcher())
        return seed_run

    return run
