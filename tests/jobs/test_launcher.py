"""Starting, resuming and stopping workers: one at a time, together, and where the disk has no room."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from glt.config import RunConfig
from glt.errors import JobError, StoreError
from glt.jobs import launcher, resume, start, stop
from glt.jobs.estimate import forecast
from glt.jobs.launcher import Worker, begin, not_started, stop_workers
from glt.jobs.sweep import start_all
from glt.jobs.worker import main
from glt.store import Run, SeedRun, State, Status, Store, locks, run_name
from glt.store.locks import same_process, take_lock

Patch = pytest.MonkeyPatch

Wait = Callable[..., None]

Draw = Callable[..., None]
pytestmark = pytest.mark.usefixtures("fake_engine")


def bytes_of(folder: Path) -> dict[str, bytes]:
    exempt = {"status.json", "environment.json", "log.txt", "lock"}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in exempt}


def kill(run: Run, seed: int) -> None:
    status = run.seed(seed).status()
    assert status.pid is not None
    os.kill(status.pid, signal.SIGKILL)
    while same_process(status.pid, status.process_started):
        pass


def test_seeds_are_computed_in_parallel(store: Store, config: RunConfig, wait: Wait) -> None:
    run = start(store, config, [0, 1], threads=1).run
    assert {run.seed(seed).status().state for seed in (0, 1)} <= {"queued", "running", "done"}
    wait(run, "done")
    for seed in (0, 1):
        status = run.seed(seed).status()
        assert status.progress is not None
        assert status.progress.fraction == 1.0
        assert status.error is None
        assert len(run.seed(seed).rounds()) == 3
    assert not list((store.root / ".queue").glob("*.ticket"))
    environment = run.seed(0).environment()
    code = {"results_version", "sources", "revision"}
    assert set(environment) - {"modified"} == {"versions", "threads", "device", "data_hash", *code}
    assert (environment["threads"], environment["device"]) == (1, "cpu")
    assert {"python", "torch", "numpy", "glt-studio"} <= set(environment["versions"])
    assert str(Path.home()) not in json.dumps(environment)
    # A complete run is neither started nor stopped.
    before = run.seed(0).status()
    start(store, config, [0])
    assert resume(store, run).seeds == ()
    assert stop(run) == []
    assert run.seed(0).status() == before


@pytest.mark.parametrize("state", ["running", "failed"])
def test_a_complete_seed_is_done_when_started_again(store: Store, config: RunConfig, wait: Wait, state: State) -> None:
    run = start(store, config, [0]).run
    wait(run, "done")
    done = run.seed(0).status()
    run.seed(0).write_status(done.model_copy(update={"state": state, "process_mark": None, "process_started": 1.0}))
    assert run.seed(0).status().state == ("lost" if state == "running" else "failed")
    start(store, config, [0])
    assert run.seed(0).status().state == "done"
    assert run.seed(0).status().progress == done.progress


def test_a_second_worker_on_a_seed_is_refused(
    store: Store, long_config: RunConfig, slow_engine: Patch, wait: Wait, monkeypatch: Patch
) -> None:
    run = start(store, long_config, [1]).run
    wait(run, "running")
    before = run.seed(1).status()
    # Nor can a worker be started by hand.
    for extra in ([], ["--threads", "2"]):
        assert main([str(store.root), run.name, "1", *extra]) == 1
    # A worker that computes is not waited for.
    for module in (launcher, locks):
        monkeypatch.setattr(module.time, "sleep", lambda _: pytest.fail("the second one waited"))
    with pytest.raises(StoreError, match=f"seed-1 is in use by process {before.pid} on"):
        start(store, long_config, [0, 1])
    assert run.seeds() == [1]
    assert resume(store, run).elsewhere == (1,)
    assert not_started(resume(store, run)) == "seed 1 is already running"
    monkeypatch.undo()
    assert run.seed(1).status().state == "running"
    assert run.seed(1).status().pid == before.pid


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_resumed_seed_has_the_same_bytes(
    store: Store, tmp_path: Path, wait: Wait, fake_engine: Patch, end: str
) -> None:
    config = RunConfig(rounds=12, epochs=1, retrain_epochs=4)
    reference = start(Store(tmp_path / "reference"), config, [0]).run
    # Each worker stops in the middle of its fourth round, and is stopped or killed there or before.
    fake_engine.setenv("FAKE_PAUSE", "3")
    run = start(store, config, [0]).run
    for rounds in (1, 4, 7):
        wait(run, "running", rounds=rounds)
        if end == "stop":
            assert stop(run) == [0]
            assert run.seed(0).status().error is None
        else:
            kill(run, 0)
        assert run.seed(0).status().state == ("stopped" if end == "stop" else "lost")
        assert rounds <= run.seed(0).whole_rounds() <= rounds + 2
        if rounds == 7:
            fake_engine.delenv("FAKE_PAUSE")
        assert resume(store, run).seeds == (0,)
    for each in (run, reference):
        wait(each, "done")
    assert bytes_of(run.seed(0).path) == bytes_of(reference.seed(0).path)


def test_an_unresponsive_worker_is_killed(store: Store, long_config: RunConfig, fake_engine: Patch, wait: Wait) -> None:
    fake_engine.setenv("FAKE_EPOCH", "60")
    run = start(store, long_config, [0, 1]).run
    # Seed 1 has perhaps not begun yet.
    assert stop(run, [1], grace=0.3) == [1]
    wait(run, "running", seeds=[0])
    before = run.seed(0).status()
    assert stop(run, grace=0.3) == [0]
    assert before.pid is not None
    assert not same_process(before.pid, before.process_started)
    assert [run.seed(seed).status().state for seed in (0, 1)] == ["stopped", "stopped"]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("other", "RuntimeError (first line): see log.txt, then resume the run."),
        ("studio", "The moon is missing: wait for night."),
    ],
)
def test_a_failed_seed_is_resumed_alone(
    store: Store, config: RunConfig, wait: Wait, fake_engine: Patch, fault: str, sentence: str
) -> None:
    wait(start(store, config, [0]).run, "done")
    fake_engine.setenv("FAKE_FAULT", fault)
    run = start(store, config, [1]).run
    wait(run, "failed", seeds=[1])
    assert run.seed(1).status().error == sentence
    assert "Traceback" in run.seed(1).log_path.read_text()
    fake_engine.delenv("FAKE_FAULT")
    assert resume(store, run).seeds == (1,)
    wait(run, "done")
    assert run.seed(1).status().error is None


def test_other_threads_and_other_data_are_refused(store: Store, config: RunConfig, wait: Wait) -> None:
    wait(start(store, config, [0], threads=2).run, "done")
    longer = config.model_copy(update={"rounds": 3})
    with pytest.raises(JobError, match="threads = 2"):
        start(store, longer, [0], threads=1)
    run = start(store, longer, [0]).run
    wait(run, "done")
    assert len(run.seed(0).rounds()) == 4
    assert run.seed(0).status().threads == 2
    run = store.create(config.model_copy(update={"rounds": 4}))
    run.seed(0).write_environment({**run.seed(0).environment(), "data_hash": "0" * 64})
    resume(store, run)
    wait(run, "failed")
    assert "data set cora has changed since seed 0" in (run.seed(0).status().error or "")
    assert len(run.seed(0).rounds()) == 4
    (run.path / "EXAMPLE").touch()
    with pytest.raises(StoreError, match="bundled example"):
        start(store, config, [0])


def test_cuda_without_a_device_is_refused(store: Store, config: RunConfig, wait: Wait, monkeypatch: Patch) -> None:
    for begin_all in (start, lambda store, config, seeds, device: start_all(store, [config], seeds, device=device)):
        with pytest.raises(JobError, match="--device cpu"):
            begin_all(store, config, [0], device="cuda")
    assert not store.root.exists()
    # A worker whose device has disappeared reports it.
    monkeypatch.setattr(launcher, "check_device", lambda device: None)
    run = start(store, config, [0], device="cuda").run
    wait(run, "failed")
    assert "--device cpu" in (run.seed(0).status().error or "")


@pytest.fixture
def drawn(store: Store, config: RunConfig, draw_seed: Draw) -> Run:
    """A run whose seed 0 has every round but the last."""
    run = store.create(config)
    draw_seed(run.seed(0), rounds=config.rounds - 1, state="stopped")
    return run


@pytest.fixture
def no_worker(monkeypatch: Patch) -> None:
    """Fail a test that starts a worker."""
    monkeypatch.setattr(launcher, "spawn", lambda *_: pytest.fail("a worker was started"))


def last_round(seed_run: SeedRun, draw_seed: Draw) -> None:
    """Complete the seed as another process would."""
    for file in seed_run.path.glob("*.jsonl"):
        file.unlink()
    draw_seed(seed_run, rounds=seed_run.config.rounds)


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("call", ["start", "resume", "begin"])
def test_a_seed_that_finished_while_waiting_for_its_lock_is_not_started(
    store: Store, drawn: Run, draw_seed: Draw, monkeypatch: Patch, call: str
) -> None:
    seed_run = drawn.seed(0)

    def late(path: Path, **more: Any) -> int:
        last_round(seed_run, draw_seed)
        return take_lock(path, **more)

    monkeypatch.setattr(launcher, "take_lock", late)
    calls: dict[str, Callable[[], launcher.Started[Run]]] = {
        "start": lambda: start(store, drawn.config, [0]),
        "resume": lambda: resume(store, drawn),
        "begin": lambda: begin(store, drawn, [0], leave_busy=True),
    }
    started = calls[call]()
    assert (started.workers, started.finished, started.elsewhere) == ((), (0,), ())
    assert not_started(started) == "seed 0 is already complete"
    assert seed_run.status().state == "done"
    assert not locks.is_locked(seed_run.lock_path)


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("finished", [True, False])
def test_a_start_waits_for_a_worker_that_is_ending(
    store: Store, drawn: Run, draw_seed: Draw, monkeypatch: Patch, finished: bool
) -> None:
    seed_run, looks = drawn.seed(0), iter(range(100))
    other = take_lock(seed_run.lock_path)

    def sleep(_: float) -> None:
        """Release the lock at the third attempt."""
        if next(looks) == 2:
            if finished:
                last_round(seed_run, draw_seed)
            os.close(other)

    monkeypatch.setattr(launcher.time, "sleep", sleep)
    if finished:
        assert start(store, drawn.config, [0]).finished == (0,)
    else:
        with pytest.raises(pytest.fail.Exception, match="a worker was started"):
            start(store, drawn.config, [0])
    assert next(looks) == 3


@pytest.mark.usefixtures("no_worker")
def test_a_lock_holder_without_a_worker_is_named(store: Store, drawn: Run, monkeypatch: Patch) -> None:
    monkeypatch.setattr(launcher, "PATIENCE", 0.0)
    other = take_lock(drawn.seed(0).lock_path)
    sentence = f"seed-0 is in use by process {os.getpid()} on"
    with pytest.raises(StoreError, match=sentence):
        start(store, drawn.config, [0])
    with pytest.raises(StoreError, match=sentence):
        begin(store, drawn, [0], leave_busy=True)
    os.close(other)


@pytest.mark.usefixtures("no_worker")
def test_seeds_are_locked_in_order(store: Store, config: RunConfig, monkeypatch: Patch) -> None:
    taken: list[str] = []

    def noted(path: Path, **more: Any) -> int:
        taken.append(path.parent.name)
        return take_lock(path, **more)

    monkeypatch.setattr(launcher, "take_lock", noted)
    with pytest.raises(pytest.fail.Exception):
        start(store, config, [2, 0, 1])
    assert taken == ["seed-0", "seed-1", "seed-2"]


def test_workers_of_other_launchers_are_not_stopped(
    store: Store, long_config: RunConfig, fake_engine: Patch, wait: Wait
) -> None:
    first = start(store, long_config, [0])
    stop(first.run)
    other = start(store, long_config, [0])
    stop_workers(first.workers)
    wait(first.run, "running")
    assert first.run.seed(0).status().pid == other.workers[0].status.pid


def test_a_status_of_another_worker_is_not_overwritten(store: Store, drawn: Run) -> None:
    ended = Status(state="queued", seed=0, pid=1, process_started=1.0)
    drawn.seed(0).write_status(Status(state="running", seed=0, pid=os.getpid(), process_started=1.0))
    assert drawn.seed(0).status().state == "lost"
    stop_workers([Worker(drawn.seed(0), ended, 0)])
    assert drawn.seed(0).status().state == "lost"


def test_a_store_that_cannot_be_made_is_not_called_full(config: RunConfig, monkeypatch: Patch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(StoreError, match="cannot be written"):
        start(Store(tmp_path / "file" / "store"), config, [0])


def test_missing_rounds_need_disk_space(store: Store, config: RunConfig, wait: Wait, monkeypatch: Patch) -> None:
    wait(start(store, config, [0]).run, "done")
    one = forecast(store, [config], [1], ()).size_bytes
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=one))
    other = config.model_copy(update={"p_graph": 0.2})
    with pytest.raises(StoreError, match="are free on the disk of the store"):
        start_all(store, [config, other], [1])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_000))
    with pytest.raises(StoreError, match=r"need about .* MB, but only 1.00 MB are free"):
        start(store, RunConfig(hidden=64), [0, 1])
    assert [run.name for run in store.runs()] == [run_name(config)]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    assert start(store, config, [0]).run.seed(0).status().state == "done"
