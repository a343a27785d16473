"""`glt reproduce`: the list, dry runs, what is refused, and a run of what is missing."""

from __future__ import annotations

import json
import time

import pytest

from glt.store import Store
from tests.cli.conftest import PATIENCE, Glt


@pytest.fixture
def quick(fake_engine: pytest.MonkeyPatch) -> None:
    """An engine whose epochs take no time."""
    fake_engine.setenv("FAKE_EPOCH", "0")


def test_without_a_name_it_lists_the_experiments(glt: Glt, store: Store) -> None:
    listed = glt("reproduce")
    assert listed.returncode == 0, listed.stderr
    assert "node-classification" in listed.stdout
    assert "Table A5" in listed.stdout
    document = json.loads(glt("reproduce", "--json").stdout)
    assert document[0]["experiment"] == "teaser"
    assert document[0]["settings"] == [
        {"dataset": "cora", "model": "gcn", "task": "node"},
        {"dataset": "citeseer", "model": "gcn", "task": "node"},
    ]


def test_a_dry_run_only_says_what_is_missing(glt: Glt, store: Store) -> None:
    said = glt("reproduce", "teaser", "--no-examples", "--seeds", "0-1", "--dry-run")
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[0] == "The summary (Figure 1): cora gcn node"
    assert "Missing: 3 runs, seeds 0, 1: about" in said.stdout
    assert not store.root.exists()
    document = json.loads(glt("reproduce", "teaser", "--no-examples", "--dry-run", "--json").stdout)
    assert [need["lacking"] for need in document["needs"]] == [[0, 1, 2]] * 3
    assert document["missing"]["epochs"] > 0


def test_examples_are_not_computed_again(glt: Glt, store: Store) -> None:
    said = glt("reproduce", "subgraph-gallery", "--seeds", "0-2")
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[-1] == "Missing: nothing."
    assert not store.root.exists()


@pytest.mark.usefixtures("quick")
def test_what_is_missing_is_run_and_then_there(glt: Glt, store: Store) -> None:
    ran = glt("reproduce", "subgraph-gallery", "--no-examples", "--seeds", "0")
    assert ran.returncode == 0, ran.stderr
    (run,) = store.runs()
    assert run.seed(0).whole_rounds() == 14
    again = glt("reproduce", "subgraph-gallery", "--no-examples", "--seeds", "0", "--json")
    assert json.loads(again.stdout)["needs"][0]["state"] == "complete"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("detached", [False, True])
def test_arms_that_read_another_run_come_after_it(glt: Glt, store: Store, detached: bool) -> None:
    more = ["--detach"] if detached else []
    ran = glt("reproduce", "random-tickets", "--no-examples", "--seeds", "0", *more)
    assert ran.returncode == 0, ran.stderr
    assert sorted(run.config.method for run in store.runs()) == ["random", "reinit", "reinit", "reinit", "ugs"]
    assert ("it waits for" in ran.stdout) == detached
    deadline = time.monotonic() + PATIENCE
    while detached and not all(run.seed(0).status().state == "done" for run in store.runs()):
        states = {run.name: run.seed(0).status() for run in store.runs()}
        assert time.monotonic() < deadline, states
        assert all(status.state != "failed" for status in states.values()), states
        time.sleep(0.2)
    assert all(run.seed(0).is_complete() for run in store.runs())


@pytest.mark.usefixtures("quick")
def test_a_pre_training_comes_before_what_starts_from_it(glt: Glt, store: Store) -> None:
    ran = glt("reproduce", "graphcl", "--no-examples", "--seeds", "0", "--json")
    assert ran.returncode == 0, ran.stderr
    assert [need["state"] for need in json.loads(ran.stdout)["needs"]] == ["complete", "complete"]
    (pretraining,) = store.pretrainings()
    assert pretraining.finished() == [0]
    starts = [run.config.options.get("pretraining") for run in store.runs()]
    assert sorted(starts, key=str) == sorted([None, pretraining.name], key=str)
