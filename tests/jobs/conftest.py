"""A store, a small config and an engine that needs no torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from glt.config import RunConfig
from glt.jobs import stop
from glt.store import Run, State, Store
from glt.store.locks import ACTIVE

# Seconds; generous, since the machine may be busy.
PATIENCE = 600


@pytest.fixture
def slow_engine(fake_engine: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Have an epoch last a twentieth of a second."""
    fake_engine.setenv("FAKE_EPOCH", "0.05")
    return fake_engine


@pytest.fixture
def config() -> RunConfig:
    return RunConfig(rounds=2, epochs=1, retrain_epochs=3)


@pytest.fixture
def long_config() -> RunConfig:
    """A run that the fake engine never finishes."""
    return RunConfig(rounds=400, epochs=1, retrain_epochs=3)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "store")
    yield store
    for run in store.runs():
        stop(run, grace=0)


@pytest.fixture
def wait() -> Callable[..., None]:
    """Wait until every seed of a run is in one of these states; another end, or ten minutes, is a failure."""

    def wait(run: Run, *states: State, seeds: list[int] | None = None, rounds: int = 0) -> None:
        deadline = time.monotonic() + PATIENCE
        chosen = [run.seed(seed) for seed in (run.seeds() if seeds is None else seeds)]
        while not all(one.status().state in states and one.whole_rounds() >= rounds for one in chosen):
            now = [(one.seed, one.status(), one.whole_rounds()) for one in chosen]
            assert time.monotonic() < deadline, now
            assert all(status.state in (*states, *ACTIVE) for _, status, _ in now), now
            time.sleep(0.05)

    return wait
