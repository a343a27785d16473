"""What a seed was computed with is written once; a resume adds other versions and refuses other data."""

from __future__ import annotations

import pytest

from glt.config import RunConfig
from glt.errors import JobError
from glt.jobs import environment
from glt.jobs.environment import record_environment
from glt.jobs.settings import Settings
from glt.store import SeedRun, Store


@pytest.fixture
def seed_run(store: Store, config: RunConfig) -> SeedRun:
    seed_run = store.create(config).seed(0)
    seed_run.make()
    record_environment(seed_run, Settings(), "a" * 64)
    return seed_run


def test_the_same_versions_change_nothing(seed_run: SeedRun) -> None:
    before = seed_run.environment()
    record_environment(seed_run, Settings(), "a" * 64)
    assert seed_run.environment() == before


def test_other_versions_are_added_once(seed_run: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    before = seed_run.environment()
    monkeypatch.setattr(environment, "current_versions", lambda: {"torch": "99"})
    for _ in range(2):
        record_environment(seed_run, Settings(), "a" * 64)
    assert seed_run.environment() == {**before, "resumed_with": [{"torch": "99"}]}


def test_fewer_threads_than_it_began_with_are_added_once(seed_run: SeedRun) -> None:
    seed_run.write_environment({**seed_run.environment(), "threads": 64})
    before = seed_run.environment()
    for _ in range(2):
        record_environment(seed_run, Settings(threads=2), "a" * 64)
    assert seed_run.environment() == {**before, "resumed_with": [{**before["versions"], "threads": 2}]}


def test_other_data_are_refused(seed_run: SeedRun) -> None:
    with pytest.raises(JobError, match=r"data set cora is not the one .*content bbbbbbbb, then aaaaaaaa"):
        record_environment(seed_run, Settings(), "b" * 64)
