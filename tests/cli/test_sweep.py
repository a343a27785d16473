"""`sweep` and `reproduce`: grids, experiments of the paper, and their summaries."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from glt.store import Store
from tests.cli.conftest import LONG, PATIENCE, SHORT, Begin, Glt, OnTerminal

pytestmark = pytest.mark.usefixtures("fake_engine")

GRID = ("--grid", "p_graph=.05,.20", "p_weight=.10,.40")


def files(store: Store) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in store.root.rglob("*.safetensors")}


def test_a_sweep_prints_cost_progress_and_summary(glt: Glt, store: Store) -> None:
    arguments = ("sweep", "--preset", "official", "--seeds", "0,1", *GRID, *SHORT)
    done = glt(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"Sweep: 4 runs of seeds 0, 1 in {store.root}, ")
    assert "adds about" in lines[0]
    assert sum(line.startswith("p_graph = 0.2, p_weight = 0.4, seed 1 round ") for line in lines) == 3
    assert len(store.runs()) == 4
    rows = [line.split() for line in lines if line.split()[-1:] and line.split()[-1] in line[-10:] and " done " in line]
    assert [row[:3] for row in rows] == [[g, w, "done"] for g in ("0.05", "0.2") for w in ("0.1", "0.4")]
    before = files(store)
    again = glt(*arguments)
    assert again.returncode == 0
    assert again.stdout.splitlines()[0].endswith("already complete.")
    assert files(store) == before


def test_sweep_json_is_one_document(glt: Glt, store: Store) -> None:
    done = glt("sweep", "--seeds", "0-1", *GRID, *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["grid"] == {"p_graph": [0.05, 0.2], "p_weight": [0.1, 0.4]}
    assert [point["values"] for point in document["points"]] == [
        {"p_graph": g, "p_weight": w} for g in (0.05, 0.2) for w in (0.1, 0.4)
    ]
    for point in document["points"]:
        assert point["run"] in [run.name for run in store.runs()]
        assert point["seeds"] == {"0": "done", "1": "done"}
        assert [each["round"] for each in point["rounds"]] == [0, 1, 2]
        assert [each["test"] for each in point["rounds"]] == [0.8, 0.8, 0.8]
        assert {each["seeds"] for each in point["rounds"]} == {2}


def test_ctrl_c_stops_a_sweep_and_repeating_resumes_it(begin: Begin, glt: Glt, store: Store) -> None:
    process = begin("sweep", "--seeds", "0,1", *GRID, *LONG)
    deadline = time.monotonic() + PATIENCE
    while not any(run.seed(0).whole_rounds() > 1 for run in store.runs()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Stopped 8 workers; run the same command to continue." in err
    assert " stopped " in out
    states = [run.seed(seed).status().state for run in store.runs() for seed in (0, 1)]
    assert states == ["stopped"] * 8
    detached = glt("sweep", "--seeds", "0,1", *GRID, *LONG, "--detach", "--json")
    assert detached.returncode == 0, detached.stderr
    document = json.loads(detached.stdout)
    assert {state for point in document["points"] for state in point["seeds"].values()} <= {"queued", "running"}
    second = begin("sweep", "--seeds", "0,1", *GRID, *LONG)
    assert second.stdout is not None
    assert any("already running" in line for line in second.stdout)
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=PATIENCE)
    states = {run.seed(seed).status().state for run in store.runs() for seed in (0, 1)}
    assert states <= {"queued", "running"}


def test_a_failed_point_fails_the_sweep(glt: Glt, store: Store, fake_engine: pytest.MonkeyPatch) -> None:
    fake_engine.setenv("FAKE_FAULT", "studio")
    failed = glt("sweep", "--grid", "hidden=16,17", "--set", "rounds=2", "retrain_epochs=3")
    assert failed.returncode == 1
    done = failed.stderr.splitlines()
    assert [line.split(":")[0] for line in done] == [f"Seed 0 of hidden = {hidden} failed" for hidden in (16, 17)]
    fake_engine.delenv("FAKE_FAULT")
    assert glt("sweep", "--grid", "hidden=16,17", "--set", "rounds=2", "retrain_epochs=3").returncode == 0


def test_a_grid_varies_the_settings_of_another_run(glt: Glt, store: Store) -> None:
    assert glt("run", "--set", "rounds=1", "retrain_epochs=2", "hidden=16").returncode == 0
    (first,) = store.runs()
    swept = glt("sweep", "--config", str(first.path), "--grid", "p_graph=.05,.1")
    assert swept.returncode == 0, swept.stderr
    changes = [run.config for run in store.runs()]
    assert sorted(config.p_graph for config in changes) == [0.05, 0.1]
    assert {config.hidden for config in changes} == {16}


def test_one_progress_bar_per_point(on_terminal: OnTerminal, store: Store) -> None:
    code, drawn = on_terminal("sweep", "--grid", "hidden=16,17", "--set", "rounds=1", "retrain_epochs=2")
    assert code == 0
    assert "hidden = 17" in drawn
    assert "100 % done" in drawn


@pytest.fixture
def quick(fake_engine: pytest.MonkeyPatch) -> None:
    """An engine whose epochs take no time."""
    fake_engine.setenv("FAKE_EPOCH", "0")


def test_reproduce_without_a_name_lists_experiments(glt: Glt, store: Store) -> None:
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


def test_a_dry_run_only_lists_missing_runs(glt: Glt, store: Store) -> None:
    done = glt("reproduce", "teaser", "--no-examples", "--seeds", "0-1", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "The summary (Figure 1): cora gcn node"
    assert "Missing: 3 runs, seeds 0, 1: about" in done.stdout
    assert not store.root.exists()
    document = json.loads(glt("reproduce", "teaser", "--no-examples", "--dry-run", "--json").stdout)
    assert [need["lacking"] for need in document["needs"]] == [[0, 1, 2]] * 3
    assert document["missing"]["epochs"] > 0


def test_examples_are_not_computed_again(glt: Glt, store: Store) -> None:
    done = glt("reproduce", "subgraph-gallery", "--seeds", "0-2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Missing: nothing."
    assert not store.root.exists()


@pytest.mark.usefixtures("quick")
def test_missing_runs_are_computed(glt: Glt, store: Store) -> None:
    ran = glt("reproduce", "subgraph-gallery", "--no-examples", "--seeds", "0")
    assert ran.returncode == 0, ran.stderr
    (run,) = store.runs()
    assert run.seed(0).whole_rounds() == 14
    again = glt("reproduce", "subgraph-gallery", "--no-examples", "--seeds", "0", "--json")
    assert json.loads(again.stdout)["needs"][0]["state"] == "complete"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("detached", [False, True])
def test_dependent_arms_run_after_their_source(glt: Glt, store: Store, detached: bool) -> None:
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
def test_pretrainings_run_before_dependent_arms(glt: Glt, store: Store) -> None:
    ran = glt("reproduce", "graphcl", "--no-examples", "--seeds", "0", "--json")
    assert ran.returncode == 0, ran.stderr
    assert [need["state"] for need in json.loads(ran.stdout)["needs"]] == ["complete", "complete"]
    (pretraining,) = store.pretrainings()
    assert pretraining.finished() == [0]
    starts = [run.config.options.get("pretraining") for run in store.runs()]
    assert sorted(starts, key=str) == sorted([None, pretraining.name], key=str)
