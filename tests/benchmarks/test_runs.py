"""A run that is timed is a whole one, by a worker whose CPU seconds are known."""

from __future__ import annotations

import pytest

from benchmarks import runs
from benchmarks.parallel import _results
from benchmarks.runs import Taken, run_once
from glt.errors import JobError


def test_the_workers_cpu_seconds_and_rounds_are_known() -> None:
    taken = run_once("cora", [0], {"rounds": 1, "epochs": 2, "retrain_epochs": 2, "hidden": 4})
    assert taken.cpu > 0
    assert 0 < taken.rounds[0] < taken.wall


def test_a_worker_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs.sys, "executable", "/bin/false")
    with pytest.raises(JobError, match="exit code 1"):
        run_once("cora", [0], {"rounds": 1})


def test_two_seeds_are_held_against_one() -> None:
    turns = [(Taken(10, 12, (11.0,)), Taken(24, 15, (12.1, 11.5)))]
    values = {each.name.rpartition("/")[2]: each.value for each in _results("parallel/cora", turns)}
    assert values == {
        "one seed": 11.0,
        "two seeds side by side": 12.1,
        "two over one": 1.1,
        "two over one, CPU seconds a seed": 1.2,
    }
