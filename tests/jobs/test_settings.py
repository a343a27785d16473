"""Threads of a worker: no more than the machine has cores, and for a seed begun elsewhere as many as there are."""

from __future__ import annotations

import pytest

from glt.cli.options import threads
from glt.config import RunConfig
from glt.errors import ConfigError, JobError
from glt.jobs import devices, queue
from glt.jobs.devices import THREADS_VARIABLE, Settings, settle
from glt.store import SeedRun, Store

TOO_MANY = "9999 threads are more than the 2 cores of this machine: use at most 2"


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cores", lambda: 2)


@pytest.fixture
def seed_run(store: Store, config: RunConfig) -> SeedRun:
    seed_run = store.create(config).seed(0)
    seed_run.make()
    return seed_run


def test_more_threads_than_cores_are_refused(seed_run: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settle(seed_run, 2, None) == Settings(2)
    with pytest.raises(ConfigError, match=TOO_MANY):
        settle(seed_run, 9999, None)
    with pytest.raises(ConfigError, match=TOO_MANY):
        threads("9999")
    monkeypatch.setenv(THREADS_VARIABLE, "9999")
    with pytest.raises(ConfigError, match=TOO_MANY):
        settle(seed_run, None, None)


def test_a_seed_begun_with_more_goes_on_with_all_cores(seed_run: SeedRun) -> None:
    seed_run.write_environment({"threads": 64, "device": "cpu"})
    assert settle(seed_run, None, None) == settle(seed_run, 2, None) == Settings(2)
    with pytest.raises(JobError, match="threads = 2 and must go on"):
        settle(seed_run, 1, None)


@pytest.mark.parametrize("threads", ["many", 0, -3, None])
def test_a_number_that_is_none_counts_as_not_recorded(seed_run: SeedRun, threads: object) -> None:
    seed_run.write_environment({"threads": threads})
    assert settle(seed_run, None, None) == Settings(1)


def test_every_machine_has_a_core() -> None:
    assert queue.cores() >= 1
