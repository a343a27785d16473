"""The queue: waiting workers keep their order, dead ones do not block it, and runs wait for runs they need."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glt.config import RunConfig
from glt.errors import ConfigError
from glt.jobs import start, stop
from glt.jobs.queue import awaited, check_needs, is_busy, join_line, line_of, place_in_line, wait_for_slot
from glt.presets import resolve
from glt.pretraining.config import resolve_pretraining
from glt.store import Run, Status, Store
from glt.store.locks import identity

Wait = Callable[..., None]


def never() -> bool:
    return False


def test_the_earlier_ticket_goes_first(tmp_path: Path) -> None:
    (first, lock), (second, _) = join_line(tmp_path, 1.0), join_line(tmp_path, 2.0)
    asked = iter([False, False, True])
    assert wait_for_slot(tmp_path, second, 5, lambda: next(asked)) is None
    third = join_line(tmp_path, 3.0)[0]
    os.close(lock)
    assert wait_for_slot(tmp_path, third, 1, never) is not None
    assert not first.exists()
    assert not list(tmp_path.glob("*.ticket"))


def test_a_taken_slot_is_not_given_twice(tmp_path: Path) -> None:
    slot = wait_for_slot(tmp_path, join_line(tmp_path, 1.0)[0], 1, never)
    asked = iter([False, False, True])
    assert wait_for_slot(tmp_path, join_line(tmp_path, 2.0)[0], 1, lambda: next(asked)) is None
    assert slot is not None
    os.close(slot)
    assert wait_for_slot(tmp_path, join_line(tmp_path, 3.0)[0], 1, never) is not None


def test_a_place_in_the_line_counts_only_who_still_waits(tmp_path: Path) -> None:
    locks = [join_line(tmp_path, moment)[1] for moment in (1.0, 2.5, 3.0)]
    assert [place_in_line(tmp_path, moment) for moment in (1.0, 2.5, 3.0, 4.0)] == [1, 2, 3, None]
    os.close(locks[0])
    assert [place_in_line(tmp_path, moment) for moment in (1.0, 2.5, 3.0)] == [None, 1, 2]
    assert place_in_line(tmp_path / "no such line", 1.0) is None


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_a_store_is_busy_while_anybody_waits_or_computes(tmp_path: Path, device: str) -> None:
    assert not is_busy(tmp_path / "no such queue")
    line = line_of(tmp_path, device)
    assert not is_busy(tmp_path)
    ticket, lock = join_line(line, 1.0)
    assert is_busy(tmp_path)
    slot = wait_for_slot(line, ticket, 1, never)
    os.close(lock)
    assert is_busy(tmp_path)
    assert slot is not None
    os.close(slot)
    assert not is_busy(tmp_path)


@pytest.mark.usefixtures("fake_engine")
def test_seeds_run_one_after_the_other_in_order(
    store: Store, config: RunConfig, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, config, [2, 0, 1]).run
    wait(run, "done")
    ended = {seed: (run.seed(seed).path / "rounds.jsonl").stat().st_mtime_ns for seed in (0, 1, 2)}
    began = {seed: (run.seed(seed).path / "init.safetensors").stat().st_mtime_ns for seed in (0, 1, 2)}
    assert ended[2] < began[0]
    assert ended[0] < began[1]


@pytest.mark.usefixtures("slow_engine")
def test_a_waiting_worker_has_no_torch_and_can_be_stopped(
    store: Store, long_config: RunConfig, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, long_config, [0, 1]).run
    wait(run, "running", seeds=[0])
    assert run.seed(1).status().state == "queued"
    assert not run.seed(1).environment()
    assert stop(run, [1]) == [1]
    assert run.seed(0).status().state == "running"


@pytest.mark.usefixtures("slow_engine")
def test_the_line_moves_on_when_who_computes_or_waits_is_killed(
    store: Store, long_config: RunConfig, config: RunConfig, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, long_config, [0, 1]).run
    wait(run, "running", seeds=[0])
    other = start(store, config.model_copy(update={"method": "random"}), [0]).run
    for seed in (1, 0):
        os.kill(run.seed(seed).status().pid or 0, 9)
    wait(other, "done")
    wait(run, "lost")


# Runs that need another run wait for it without blocking others, and say why if it fails.


def ticket_of(run: Run) -> RunConfig:
    """A random ticket of a run, over one round."""
    settings = run.config.model_dump(include={"epochs", "retrain_epochs"})
    return resolve({"method": "reinit", "rounds": 1, "masks_of": run.name, **settings})


@pytest.fixture
def gate(fake_engine: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What workers wait for in their first round: a file that is not there yet."""
    fake_engine.setenv("FAKE_GATE", str(tmp_path / "gate"))
    return tmp_path / "gate"


@pytest.fixture
def begun(store: Store, gate: Path) -> Run:
    """A run at work until the gate opens, with whose masks a random ticket can be trained."""
    return start(store, resolve({"rounds": 20, "epochs": 1, "retrain_epochs": 3}), [0]).run


def test_it_waits_and_then_computes(store: Store, begun: Run, wait: Wait, gate: Path) -> None:
    ticket = start(store, ticket_of(begun), [0]).run
    assert awaited(store, ticket.config, 0) == begun.name
    gate.touch()
    wait(ticket, "done")
    assert begun.seed(0).whole_rounds() >= 2
    assert awaited(store, ticket.config, 0) is None


def test_what_waits_does_not_hold_up_what_comes_later(
    store: Store, fake_engine: pytest.MonkeyPatch, wait: Wait
) -> None:
    fake_engine.setenv("GLT_SLOTS", "2")
    fake_engine.setenv("FAKE_EPOCH", "0.2")
    source = start(store, resolve({"rounds": 400, "epochs": 1, "retrain_epochs": 3}), [0]).run
    config = ticket_of(source).model_copy(update={"rounds": 400})
    ticket = start(store, config, [0]).run
    fake_engine.setenv("FAKE_EPOCH", "0")
    later = start(store, resolve({"rounds": 1, "epochs": 1, "retrain_epochs": 3, "method": "random"}), [0]).run
    wait(later, "done")
    assert (awaited(store, config, 0), ticket.seed(0).status().state) == (source.name, "queued")


def test_it_says_that_it_waited_in_vain(store: Store, fake_engine: pytest.MonkeyPatch, wait: Wait) -> None:
    fake_engine.setenv("FAKE_EPOCH", "0.2")
    source = start(store, resolve({"rounds": 400, "epochs": 1, "retrain_epochs": 3}), [0]).run
    ticket = start(store, ticket_of(source).model_copy(update={"rounds": 400}), [0]).run
    stop(source)
    deadline = time.monotonic() + 1800
    while ticket.seed(0).status().state != "failed":
        assert time.monotonic() < deadline, ticket.seed(0).status()
        time.sleep(0.1)
    assert f"Seed 0 of {source.name} has " in (ticket.seed(0).status().error or "")


def test_waiting_can_be_stopped(store: Store, begun: Run) -> None:
    ticket = start(store, ticket_of(begun).model_copy(update={"rounds": 20}), [0]).run
    assert stop(ticket) == [0]
    assert ticket.seed(0).status().state == "stopped"


def test_a_run_that_is_not_at_work_must_be_finished(store: Store, begun: Run) -> None:
    stop(begun)
    with pytest.raises(ConfigError, match="finish it first"):
        check_needs(store, ticket_of(begun).model_copy(update={"rounds": 20}), [0])


def test_settings_that_do_not_fit_are_refused_although_it_is_at_work(store: Store, begun: Run) -> None:
    other = ticket_of(begun).model_copy(update={"hidden": 8})
    with pytest.raises(ConfigError, match="masks need equal settings"):
        check_needs(store, other, [0])


def test_a_start_from_a_pre_training_waits_for_it(store: Store) -> None:
    first = resolve_pretraining({"hidden": 16})
    pretraining = store.create_pretraining(first)
    config = resolve({"hidden": 16, "pretraining": pretraining.name})
    with pytest.raises(ConfigError, match="is not finished"):
        check_needs(store, config, [0])
    seed = pretraining.seed(1)
    seed.make()
    pid, started = identity()
    status = Status(state="running", seed=1, pid=pid, process_started=started, host=socket.gethostname())
    seed.write_status(status)
    # Seed 0 has no first layer of its own coming, so it takes the one that is being made.
    assert [awaited(store, config, number) for number in (0, 1)] == [pretraining.name] * 2
    check_needs(store, config, [0, 1])
    with pytest.raises(ConfigError, match="8"):
        check_needs(store, resolve({"hidden": 8, "pretraining": pretraining.name}), [1])
    layer = np.zeros((1433, 16), dtype=np.float32)
    seed.write_first_layer(layer, {"best_epoch": 1, "epochs": 2, "loss": 0.5, "graph": "a" * 64})
    seed.write_status(status.model_copy(update={"state": "done"}))
    assert [awaited(store, config, number) for number in (0, 1)] == [None, None]
