"""`glt pretrain` on the command line with the real engine, and the verbs that meet its runs."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress

import pytest

from glt.store import Pretraining, PretrainingSeed, Store
from tests.cli.conftest import PATIENCE, Glt

TINY = ("--hidden", "4", "--set", "epochs=4")
ENDLESS = ("--hidden", "4", "--set", "epochs=100000", "patience=100000")
RUN = ("--set", "hidden=4", "rounds=1", "epochs=2", "retrain_epochs=2")


def the_pretraining(store: Store) -> Pretraining:
    (run,) = store.pretrainings()
    return run


def wait_for_epochs(store: Store, epochs: int) -> PretrainingSeed:
    deadline = time.monotonic() + PATIENCE
    while not store.pretrainings() or len(the_pretraining(store).seed(0).epochs()[0]) < epochs:
        assert time.monotonic() < deadline
        assert all(run.seed(0).status().state != "failed" for run in store.pretrainings())
        time.sleep(0.05)
    return the_pretraining(store).seed(0)


def test_pretrain_show_start_and_delete(glt: Glt, store: Store) -> None:
    done = glt("pretrain", "--dataset", "cora", "--augmentation", "edges", "--seeds", "0-1", *TINY)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "seeds 0, 1, at most 4 epochs, ends after 20 without a lower loss" in lines[0]
    assert [line.split(",")[0] for line in lines[1:]] == ["seed 0: 4 epochs", "seed 1: 4 epochs"]
    name = the_pretraining(store).name
    assert (
        "already complete: the pre-training of seeds 0, 1."
        in glt("pretrain", "--dataset", "cora", "--seeds", "0-1", *TINY).stdout
    )
    shown = json.loads(glt("show", name, "--json").stdout)
    assert (shown["run"], shown["kind"]) == (name, "pre-training")
    assert [(seed["state"], seed["epochs"], len(seed["losses"])) for seed in shown["seeds"]] == [("done", 4, 4)] * 2
    assert name in glt("list").stdout
    assert [entry["kind"] for entry in json.loads(glt("list", "--json").stdout)] == ["pre-training"]
    started = glt("run", "--seeds", "1-2", *RUN, f"pretraining={name}")
    assert started.returncode == 0, started.stderr
    expected = f"theta_0: first layer from {name} (seed 1 from its seed 1, seed 2 from its seed 0), the rest random."
    assert expected in started.stdout
    (run,) = store.runs()
    recorded = [run.seed(seed).environment()["pretraining"] for seed in (1, 2)]
    assert [entry["seed"] for entry in recorded] == [1, 0]
    assert recorded[1]["sha256"] == shown["seeds"][0]["sha256"]
    assert "is a pre-training run, which has no rounds" in glt("cost", name, "--round", "0").stderr
    assert glt("delete", name).returncode == 0
    assert store.pretrainings() == []


def test_pretrain_on_links_states_its_edges(glt: Glt, store: Store) -> None:
    done = glt("pretrain", "--task", "link", "--augmentation", "features", "--json", *TINY)
    assert done.returncode == 0, done.stderr
    assert "training edges are used" in done.stderr
    document = json.loads(done.stdout)
    assert document["config"]["split_seed"] == 0
    run = glt("run", "--task", "link", *RUN, f"pretraining={document['run']}", "link_dimension=4", "gic_clusters=4")
    assert run.returncode == 0, run.stderr


def killed_in_mid_training(glt: Glt, store: Store) -> tuple[list[str], PretrainingSeed]:
    """Kill a worker while it trains, and return its command; retry with more epochs if it ended before."""
    for epochs in (100, 400, 1600, 6400):
        arguments = ["pretrain", "--hidden", "4", "--set", f"epochs={epochs}", f"patience={epochs}"]
        assert glt(*arguments, "--detach").returncode == 0
        seed = wait_for_epochs(store, 1)
        with suppress(ProcessLookupError):
            os.kill(seed.status().pid or 0, signal.SIGKILL)
        while seed.status().state not in ("lost", "done"):
            time.sleep(0.05)
        if not seed.is_complete():
            return arguments, seed
        assert glt("delete", seed.path.parent.name).returncode == 0
    pytest.fail("the training was always over before its worker was killed")


def test_killed_and_resumed_gives_the_same_bytes(glt: Glt, store: Store) -> None:
    arguments, seed = killed_in_mid_training(glt, store)
    resumed = glt("resume", seed.path.parent.name)
    assert resumed.returncode == 0, resumed.stderr
    names = ("pretrained.safetensors", "events.jsonl")
    after = {name: (seed.path / name).read_bytes() for name in names}
    other = glt(*arguments, "--store", str(store.root.parent / "other"))
    assert other.returncode == 0, other.stderr
    reference = the_pretraining(Store(store.root.parent / "other")).seed(0)
    assert {name: (reference.path / name).read_bytes() for name in names} == after


def test_a_pretraining_can_be_stopped(glt: Glt, store: Store) -> None:
    assert glt("pretrain", *ENDLESS, "--detach").returncode == 0
    seed = wait_for_epochs(store, 1)
    name = the_pretraining(store).name
    assert f"Stopped seed 0 of {name}." in glt("stop", name).stdout
    assert seed.status().state == "stopped"
    refused = glt("run", *RUN, f"pretraining={name}")
    assert refused.returncode == 2
    assert "is not finished: run `" in refused.stderr
    assert store.runs() == []
