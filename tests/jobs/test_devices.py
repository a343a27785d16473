"""Devices and threads: which device a worker gets, and what a seed keeps on a resume."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from glt.cli.options import threads
from glt.config import RunConfig
from glt.errors import ConfigError, JobError
from glt.jobs import devices, queue, resume, start, stop
from glt.jobs.devices import THREADS_VARIABLE, Dealer, Settings, check_device, places, read_device, settle
from glt.jobs.queue import join_line, line_of, wait_for_slot
from glt.jobs.sweep import start_all
from glt.store import Run, SeedRun, Store

Wait = Callable[..., None]
TWO = ("cuda:0", "cuda:1")
TOO_MANY = "9999 threads are more than the 2 cores of this machine: use at most 2"


@pytest.fixture
def two_devices(fake_engine: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Have this process and its workers find two CUDA devices."""
    fake_engine.setattr(devices, "cuda_count", lambda: 2)
    fake_engine.setenv("FAKE_CUDA", "2")
    return fake_engine


def device_of(run: Run, seed: int) -> object:
    return run.seed(seed).environment().get("device")


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cuda:01", "CUDA", "", "cpu:0", "cuda:1:2", "cuda:-1"])
def test_what_is_no_device_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is not a device: use cpu, cuda"):
        read_device(name)


@pytest.mark.parametrize(
    ("found", "wanted", "sentence"),
    [
        (0, "cuda", "There is no CUDA device here: start the run with --device cpu."),
        (0, ("cuda:1",), "start the run with --devices cpu."),
        (0, ("cuda:0", "cuda:1"), "There is no CUDA device here: start the run with --devices cpu."),
        (2, ("cuda:0", "cuda:2"), "There is no device cuda:2 here: use cuda:0, cuda:1."),
        (2, ("cuda:0", "cuda:0"), "name cuda:0 twice: name each device once."),
        (2, ("cuda", "cuda:0"), "The devices cuda, cuda:0 name cuda:0 twice"),
        (0, ("cpu", "cpu"), "name cpu twice"),
    ],
)
def test_devices_that_are_not_there_or_named_twice(
    monkeypatch: pytest.MonkeyPatch, found: int, wanted: str | Sequence[str], sentence: str
) -> None:
    monkeypatch.setattr(devices, "cuda_count", lambda: found)
    with pytest.raises(JobError, match=sentence):
        check_device(wanted)


def test_devices_that_are_there_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cuda_count", lambda: 2)
    for wanted in (None, "cpu", "cuda", TWO, ("cpu", "cuda:1")):
        check_device(wanted)


def test_each_next_worker_gets_the_device_with_the_least_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_SLOTS", "2")
    dealer = Dealer(TWO, tmp_path)
    assert [dealer.next() for _ in range(5)] == ["cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:0"]
    # The CPU computes two at a time and so gets two for each of the other device.
    mixed = Dealer(("cuda:0", "cpu"), tmp_path)
    assert sorted(mixed.next() or "" for _ in range(6)) == ["cpu"] * 4 + ["cuda:0"] * 2
    assert Dealer("cpu", tmp_path).next() == "cpu"
    assert Dealer(None, tmp_path).next() is None
    assert (places(TWO), places(None), places(("cpu", "cuda"))) == (2, 2, 3)


def test_who_waits_or_works_already_counts(tmp_path: Path) -> None:
    _waiting = join_line(line_of(tmp_path, "cuda:0"), 1.0)
    assert Dealer(TWO, tmp_path).next() == "cuda:1"
    first = line_of(tmp_path, "cuda:1")
    for moment in (2.0, 3.0):
        wait_for_slot(first, join_line(first, moment)[0], 2, lambda: False)
    dealer = Dealer(TWO, tmp_path)
    assert [dealer.next(), dealer.next()] == ["cuda:0", "cuda:0"]


def test_a_device_without_number_stands_in_the_line_of_the_first(tmp_path: Path) -> None:
    assert line_of(tmp_path, "cuda") == line_of(tmp_path, "cuda:0") != line_of(tmp_path, "cuda:1")
    assert line_of(tmp_path, "cpu") == tmp_path


@pytest.mark.usefixtures("two_devices")
def test_seeds_are_spread_and_recorded_with_their_device(store: Store, config: RunConfig, wait: Wait) -> None:
    run = start(store, config, [0, 1, 2, 3], device=TWO).run
    wait(run, "done")
    assert sorted(str(device_of(run, seed)) for seed in range(4)) == ["cuda:0", "cuda:0", "cuda:1", "cuda:1"]


def test_a_device_computes_one_at_a_time(
    store: Store, long_config: RunConfig, two_devices: pytest.MonkeyPatch, wait: Wait
) -> None:
    two_devices.setenv("FAKE_EPOCH", "0.05")
    two_devices.setenv("GLT_SLOTS", "8")
    run = start(store, long_config, [0, 1, 2], device=TWO).run
    wait(run, "running", seeds=[0, 1], rounds=1)
    assert run.seed(2).status().state == "queued"
    assert {device_of(run, seed) for seed in (0, 1)} == set(TWO)
    stop(run, [0])
    # Seed 2 stood behind seed 0 and takes its place.
    wait(run, "running", seeds=[2], rounds=1)
    assert device_of(run, 2) == "cuda:0"


def test_points_of_a_sweep_are_spread_together(
    store: Store, long_config: RunConfig, two_devices: pytest.MonkeyPatch, wait: Wait
) -> None:
    two_devices.setenv("FAKE_EPOCH", "0.05")
    other = long_config.model_copy(update={"p_graph": 0.2})
    started = start_all(store, [long_config, other], [0], device=TWO)
    for each in started:
        wait(each.run, "running", rounds=1)
    assert [device_of(each.run, 0) for each in started] == list(TWO)


def test_a_resume_keeps_the_kind_and_may_change_the_number(
    store: Store, config: RunConfig, two_devices: pytest.MonkeyPatch, wait: Wait
) -> None:
    wait(start(store, config, [0], device=("cuda:0",)).run, "done")
    longer = store.create(config.model_copy(update={"rounds": 3}))
    with pytest.raises(JobError, match="began with device = cuda and must continue"):
        resume(store, longer, device="cpu")
    assert resume(store, longer, device=("cuda:1",)).seeds == (0,)
    wait(longer, "done")
    assert device_of(longer, 0) == "cuda:0"


def test_a_worker_whose_device_is_gone_says_so(
    store: Store, config: RunConfig, two_devices: pytest.MonkeyPatch, wait: Wait
) -> None:
    two_devices.setenv("FAKE_CUDA", "1")
    run = start(store, config, [0], device=("cuda:1",)).run
    wait(run, "failed")
    assert run.seed(0).status().error == "There is no device cuda:1 here: use cuda:0."


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cores", lambda: 2)


@pytest.fixture
def seed_run(store: Store, config: RunConfig) -> SeedRun:
    seed_run = store.create(config).seed(0)
    seed_run.make()
    return seed_run


@pytest.mark.usefixtures("two_cores")
def test_more_threads_than_cores_are_refused(seed_run: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settle(seed_run, 2, None) == Settings(2)
    with pytest.raises(ConfigError, match=TOO_MANY):
        settle(seed_run, 9999, None)
    with pytest.raises(ConfigError, match=TOO_MANY):
        threads("9999")
    monkeypatch.setenv(THREADS_VARIABLE, "9999")
    with pytest.raises(ConfigError, match=TOO_MANY):
        settle(seed_run, None, None)


@pytest.mark.usefixtures("two_cores")
def test_a_seed_begun_with_more_goes_on_with_all_cores(seed_run: SeedRun) -> None:
    seed_run.write_environment({"threads": 64, "device": "cpu"})
    assert settle(seed_run, None, None) == settle(seed_run, 2, None) == Settings(2)
    with pytest.raises(JobError, match="threads = 2 and must continue"):
        settle(seed_run, 1, None)


@pytest.mark.parametrize("threads", ["many", 0, -3, None])
@pytest.mark.usefixtures("two_cores")
def test_a_number_that_is_none_counts_as_not_recorded(seed_run: SeedRun, threads: object) -> None:
    seed_run.write_environment({"threads": threads})
    assert settle(seed_run, None, None) == Settings(1)


@pytest.mark.usefixtures("two_cores")
def test_every_machine_has_a_core() -> None:
    assert queue.cores() >= 1
