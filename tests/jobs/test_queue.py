"""The queue of workers, runs that wait for runs they need, devices and threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from glt.cli.options import threads
from glt.config import RunConfig
from glt.errors import ConfigError, JobError
from glt.jobs import devices, queue, resume, slot_count, start, stop
from glt.jobs.devices import THREADS_VARIABLE, Dealer, Settings, check_device, places, read_device, settle
from glt.jobs.queue import awaited, check_needs, is_busy, join_line, line_of, place_in_line, wait_for_slot
from glt.jobs.sweep import start_all
from glt.presets import resolve
from glt.pretraining.config import resolve_pretraining
from glt.store import Run, SeedRun, Status, Store
from glt.store.locks import named_process

Patch = pytest.MonkeyPatch

Wait = Callable[..., None]


def never() -> bool:
    return False


def test_the_queue_is_first_come_first_served_and_slots_are_exclusive(tmp_path: Path) -> None:
    (first, lock), (second, _) = join_line(tmp_path, 1.0), join_line(tmp_path, 2.0)
    answers = iter([False, False, True])
    assert wait_for_slot(tmp_path, second, 5, lambda: next(answers)) is None
    third = join_line(tmp_path, 3.0)[0]
    os.close(lock)
    slot = wait_for_slot(tmp_path, third, 1, never)
    assert slot is not None
    assert not first.exists()
    answers = iter([False, False, True])
    assert wait_for_slot(tmp_path, join_line(tmp_path, 4.0)[0], 1, lambda: next(answers)) is None
    os.close(slot)
    assert wait_for_slot(tmp_path, join_line(tmp_path, 5.0)[0], 1, never) is not None
    assert not list(tmp_path.glob("*.ticket"))


def test_queue_positions_count_waiting_workers_only(tmp_path: Path) -> None:
    locks = [join_line(tmp_path, moment)[1] for moment in (1.0, 2.5, 3.0)]
    assert [place_in_line(tmp_path, moment) for moment in (1.0, 2.5, 3.0, 4.0)] == [1, 2, 3, None]
    os.close(locks[0])
    assert [place_in_line(tmp_path, moment) for moment in (1.0, 2.5, 3.0)] == [None, 1, 2]
    assert place_in_line(tmp_path / "no such line", 1.0) is None


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_a_store_is_busy_while_a_worker_waits_or_computes(tmp_path: Path, device: str) -> None:
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
def test_seeds_run_in_order(store: Store, config: RunConfig, wait: Wait, monkeypatch: Patch) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, config, [2, 0, 1]).run
    wait(run, "done")
    ended = {seed: (run.seed(seed).path / "rounds.jsonl").stat().st_mtime_ns for seed in (0, 1, 2)}
    began = {seed: (run.seed(seed).path / "init.safetensors").stat().st_mtime_ns for seed in (0, 1, 2)}
    assert ended[2] < began[0]
    assert ended[0] < began[1]


@pytest.mark.usefixtures("slow_engine")
def test_a_waiting_worker_can_be_stopped(store: Store, long_config: RunConfig, wait: Wait, monkeypatch: Patch) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, long_config, [0, 1]).run
    wait(run, "running", seeds=[0])
    assert run.seed(1).status().state == "queued"
    assert not run.seed(1).environment()
    assert stop(run, [1]) == [1]
    assert run.seed(0).status().state == "running"


@pytest.mark.usefixtures("slow_engine")
def test_killed_workers_leave_the_queue(
    store: Store, long_config: RunConfig, config: RunConfig, wait: Wait, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("GLT_SLOTS", "1")
    run = start(store, long_config, [0, 1]).run
    wait(run, "running", seeds=[0])
    other = start(store, config.model_copy(update={"method": "random"}), [0]).run
    for seed in (1, 0):
        os.kill(run.seed(seed).status().pid or 0, 9)
    wait(other, "done")
    wait(run, "lost")


def ticket_of(run: Run) -> RunConfig:
    """A random ticket of a run, over one round."""
    settings = run.config.model_dump(include={"epochs", "retrain_epochs"})
    return resolve({"method": "reinit", "rounds": 1, "masks_of": run.name, **settings})


@pytest.fixture
def gate(fake_engine: Patch, tmp_path: Path) -> Path:
    """A file that does not exist yet: workers wait for it in their first round."""
    fake_engine.setenv("FAKE_GATE", str(tmp_path / "gate"))
    return tmp_path / "gate"


@pytest.fixture
def begun(store: Store, gate: Path) -> Run:
    """A run at work until the gate opens, with whose masks a random ticket can be trained."""
    return start(store, resolve({"rounds": 20, "epochs": 1, "retrain_epochs": 3}), [0]).run


def test_a_run_waits_for_its_dependency(store: Store, begun: Run, wait: Wait, gate: Path) -> None:
    with pytest.raises(ConfigError, match="masks need equal settings"):
        check_needs(store, ticket_of(begun).model_copy(update={"hidden": 8}), [0])
    ticket = start(store, ticket_of(begun), [0]).run
    assert awaited(store, ticket.config, 0) == begun.name
    assert stop(ticket) == [0]
    assert ticket.seed(0).status().state == "stopped"
    resume(store, ticket)
    gate.touch()
    wait(ticket, "done")
    assert begun.seed(0).whole_rounds() >= 2
    assert awaited(store, ticket.config, 0) is None


def test_runs_waiting_for_dependencies_do_not_block_later_ones(store: Store, fake_engine: Patch, wait: Wait) -> None:
    fake_engine.setenv("GLT_SLOTS", "2")
    fake_engine.setenv("FAKE_EPOCH", "0.2")
    source = start(store, resolve({"rounds": 400, "epochs": 1, "retrain_epochs": 3}), [0]).run
    config = ticket_of(source).model_copy(update={"rounds": 400})
    ticket = start(store, config, [0]).run
    fake_engine.setenv("FAKE_EPOCH", "0")
    later = start(store, resolve({"rounds": 1, "epochs": 1, "retrain_epochs": 3, "method": "random"}), [0]).run
    wait(later, "done")
    assert (awaited(store, config, 0), ticket.seed(0).status().state) == (source.name, "queued")


def test_a_stopped_dependency_is_an_error(store: Store, fake_engine: Patch, wait: Wait) -> None:
    fake_engine.setenv("FAKE_EPOCH", "0.2")
    source = start(store, resolve({"rounds": 400, "epochs": 1, "retrain_epochs": 3}), [0]).run
    config = ticket_of(source).model_copy(update={"rounds": 400})
    ticket = start(store, config, [0]).run
    stop(source)
    with pytest.raises(ConfigError, match="finish it first"):
        check_needs(store, config, [0])
    wait(ticket, "failed")
    assert f"Seed 0 of {source.name} has " in (ticket.seed(0).status().error or "")


def test_a_run_waits_for_its_pretraining(store: Store) -> None:
    first = resolve_pretraining({"hidden": 16})
    pretraining = store.create_pretraining(first)
    config = resolve({"hidden": 16, "pretraining": pretraining.name})
    with pytest.raises(ConfigError, match="is not finished"):
        check_needs(store, config, [0])
    seed = pretraining.seed(1)
    seed.make()
    status = Status(state="running", seed=1, **named_process())
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


TWO = ("cuda:0", "cuda:1")
TOO_MANY = "9999 threads are more than the 2 cores of this machine: use at most 2"


@pytest.fixture
def two_devices(fake_engine: Patch) -> Patch:
    """Have this process and its workers find two CUDA devices."""
    fake_engine.setattr(devices, "cuda_count", lambda: 2)
    fake_engine.setenv("FAKE_CUDA", "2")
    return fake_engine


def device_of(run: Run, seed: int) -> object:
    return run.seed(seed).environment().get("device")


@pytest.mark.parametrize(
    ("found", "wanted", "sentence"),
    [
        (0, "cuda", "There is no CUDA device here: start the run with --device cpu."),
        (0, ("cuda:0", "cuda:1"), "There is no CUDA device here: start the run with --devices cpu."),
        (2, ("cuda:0", "cuda:2"), "There is no device cuda:2 here: use cuda:0, cuda:1."),
        (2, ("cuda", "cuda:0"), "The devices cuda, cuda:0 name cuda:0 twice: name each device once."),
        (0, ("cpu", "cpu"), "name cpu twice"),
    ],
)
def test_missing_and_repeated_devices_are_refused(
    monkeypatch: Patch, found: int, wanted: str | Sequence[str], sentence: str
) -> None:
    monkeypatch.setattr(devices, "cuda_count", lambda: found)
    with pytest.raises(JobError, match=sentence):
        check_device(wanted)
    monkeypatch.setattr(devices, "cuda_count", lambda: 2)
    for there in (None, "cpu", "cuda", TWO, ("cpu", "cuda:1")):
        check_device(there)
    for name in ("gpu", "cuda:", "cuda:x", "cuda:01", "CUDA", "", "cpu:0", "cuda:1:2", "cuda:-1"):
        with pytest.raises(ConfigError, match="is not a device: use cpu, cuda"):
            read_device(name)


def test_a_worker_gets_the_device_with_the_least_load(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("GLT_SLOTS", "2")
    dealer = Dealer(TWO, tmp_path)
    assert [dealer.next() for _ in range(5)] == ["cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:0"]
    # The CPU computes two at a time and so gets two for each of the other device.
    mixed = Dealer(("cuda:0", "cpu"), tmp_path)
    assert sorted(mixed.next() or "" for _ in range(6)) == ["cpu"] * 4 + ["cuda:0"] * 2
    assert Dealer("cpu", tmp_path).next() == "cpu"
    assert Dealer(None, tmp_path).next() is None
    assert (places(TWO), places(None), places(("cpu", "cuda"))) == (2, 2, 3)


def test_waiting_and_running_workers_count_as_load(tmp_path: Path) -> None:
    # A device without a number is the first.
    assert line_of(tmp_path, "cuda") == line_of(tmp_path, "cuda:0") != line_of(tmp_path, "cuda:1")
    assert line_of(tmp_path, "cpu") == tmp_path
    _waiting = join_line(line_of(tmp_path, "cuda:0"), 1.0)
    assert Dealer(TWO, tmp_path).next() == "cuda:1"
    first = line_of(tmp_path, "cuda:1")
    for moment in (2.0, 3.0):
        wait_for_slot(first, join_line(first, moment)[0], 2, lambda: False)
    dealer = Dealer(TWO, tmp_path)
    assert [dealer.next(), dealer.next()] == ["cuda:0", "cuda:0"]


@pytest.mark.usefixtures("two_devices")
def test_seeds_are_spread_and_recorded_with_their_device(store: Store, config: RunConfig, wait: Wait) -> None:
    run = start(store, config, [0, 1, 2, 3], device=TWO).run
    wait(run, "done")
    assert sorted(str(device_of(run, seed)) for seed in range(4)) == ["cuda:0", "cuda:0", "cuda:1", "cuda:1"]


def test_a_cuda_device_runs_one_worker_at_a_time(
    store: Store, long_config: RunConfig, two_devices: Patch, wait: Wait
) -> None:
    two_devices.setenv("FAKE_EPOCH", "0.05")
    two_devices.setenv("GLT_SLOTS", "8")
    run = start(store, long_config, [0, 1, 2], device=TWO).run
    wait(run, "running", seeds=[0, 1], rounds=1)
    assert run.seed(2).status().state == "queued"
    assert {device_of(run, seed) for seed in (0, 1)} == set(TWO)
    stop(run, [0])
    # Seed 2 waited behind seed 0 and takes its place.
    wait(run, "running", seeds=[2], rounds=1)
    assert device_of(run, 2) == "cuda:0"


def test_a_sweep_is_spread_over_devices(store: Store, long_config: RunConfig, two_devices: Patch, wait: Wait) -> None:
    two_devices.setenv("FAKE_EPOCH", "0.05")
    other = long_config.model_copy(update={"p_graph": 0.2})
    started = start_all(store, [long_config, other], [0], device=TWO)
    for each in started:
        wait(each.run, "running", rounds=1)
    assert [device_of(each.run, 0) for each in started] == list(TWO)


def test_a_resume_keeps_the_device_type(store: Store, config: RunConfig, two_devices: Patch, wait: Wait) -> None:
    wait(start(store, config, [0], device=("cuda:0",)).run, "done")
    longer = store.create(config.model_copy(update={"rounds": 3}))
    with pytest.raises(JobError, match="began with device = cuda and must continue"):
        resume(store, longer, device="cpu")
    assert resume(store, longer, device=("cuda:1",)).seeds == (0,)
    wait(longer, "done")
    assert device_of(longer, 0) == "cuda:0"
    # A worker whose device has disappeared reports it.
    two_devices.setenv("FAKE_CUDA", "1")
    start(store, longer.config, [1], device=("cuda:1",))
    wait(longer, "failed", seeds=[1])
    assert longer.seed(1).status().error == "There is no device cuda:1 here: use cuda:0."


@pytest.fixture
def seed_run(store: Store, config: RunConfig) -> SeedRun:
    seed_run = store.create(config).seed(0)
    seed_run.make()
    return seed_run


def test_more_threads_than_cores_are_refused(seed_run: SeedRun, monkeypatch: Patch) -> None:
    assert queue.cores() >= 1
    monkeypatch.setattr(devices, "cores", lambda: 2)
    assert settle(seed_run, 2, None) == Settings(2)
    with pytest.raises(ConfigError, match=TOO_MANY):
        settle(seed_run, 9999, None)
    with pytest.raises(ConfigError, match=TOO_MANY):
        threads("9999")
    for number in ("many", 0, -3, None):
        seed_run.write_environment({"threads": number})
        assert settle(seed_run, None, None) == Settings(1)
    monkeypatch.setenv(THREADS_VARIABLE, "9999")
    with pytest.raises(ConfigError, match=TOO_MANY):
        settle(seed_run, None, None)
    # A seed that began with more threads resumes with all cores.
    seed_run.write_environment({"threads": 64, "device": "cpu"})
    assert settle(seed_run, None, None) == settle(seed_run, 2, None) == Settings(2)
    with pytest.raises(JobError, match="threads = 2 and must continue"):
        settle(seed_run, 1, None)
    for value in ("0", "x", "-1", ""):
        monkeypatch.setenv("GLT_SLOTS", value)
        with pytest.raises(ConfigError, match="GLT_SLOTS"):
            slot_count()
