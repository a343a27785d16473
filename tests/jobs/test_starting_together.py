"""Two that start the same seed: whoever is second leaves a live worker alone, and starts nothing that is finished."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glt.config import RunConfig
from glt.errors import StoreError
from glt.jobs import launching, resume, start
from glt.jobs.launching import begin, not_started
from glt.store import Run, SeedRun, Status, Store, lock
from glt.store.liveness import ACTIVE, identity
from glt.store.lock import take_lock

Wait = Callable[..., None]
Draw = Callable[..., None]


@pytest.fixture
def drawn(store: Store, config: RunConfig, draw_seed: Draw) -> Run:
    """A run whose seed 0 has every round but the last."""
    run = store.create(config)
    draw_seed(run.seed(0), rounds=config.rounds - 1, state="stopped")
    return run


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that starts a worker."""
    monkeypatch.setattr(launching, "spawn", lambda *_: pytest.fail("a worker was started"))


def last_round(seed_run: SeedRun, draw_seed: Draw) -> None:
    """Have somebody else compute everything, to the last round."""
    for file in seed_run.path.glob("*.jsonl"):
        file.unlink()
    draw_seed(seed_run, rounds=seed_run.config.rounds)


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("call", ["start", "resume", "begin"])
def test_what_was_finished_before_its_lock_was_free_is_finished_and_not_started(
    store: Store, drawn: Run, draw_seed: Draw, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    seed_run = drawn.seed(0)

    def late(path: Path, **more: Any) -> int:
        last_round(seed_run, draw_seed)
        return take_lock(path, **more)

    monkeypatch.setattr(launching, "take_lock", late)
    calls: dict[str, Callable[[], launching.Started[Run]]] = {
        "start": lambda: start(store, drawn.config, [0]),
        "resume": lambda: resume(store, drawn),
        "begin": lambda: begin(store, drawn, [0], leave_busy=True),
    }
    started = calls[call]()
    assert (started.workers, started.finished, started.elsewhere) == ((), (0,), ())
    assert not_started(started) == "seed 0 is complete already"
    assert seed_run.status().state == "done"
    assert not lock.is_locked(seed_run.lock_path)


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("finished", [True, False])
def test_a_worker_that_has_written_its_last_status_is_waited_for_however_long_it_needs(
    store: Store, drawn: Run, draw_seed: Draw, monkeypatch: pytest.MonkeyPatch, finished: bool
) -> None:
    seed_run, looks = drawn.seed(0), iter(range(100))
    theirs = take_lock(seed_run.lock_path)

    def sleep(_: float) -> None:
        """Give the lock back at the third look."""
        if next(looks) == 2:
            if finished:
                last_round(seed_run, draw_seed)
            os.close(theirs)

    monkeypatch.setattr(launching.time, "sleep", sleep)
    if finished:
        assert start(store, drawn.config, [0]).finished == (0,)
    else:
        with pytest.raises(pytest.fail.Exception, match="a worker was started"):
            start(store, drawn.config, [0])
    assert next(looks) == 3


@pytest.mark.usefixtures("fake_engine")
def test_a_live_worker_is_named_at_once(
    store: Store, long_config: RunConfig, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(store, long_config, [0]).run
    pid = run.seed(0).status().pid
    for module in (launching, lock):
        monkeypatch.setattr(module.time, "sleep", lambda _: pytest.fail("the second one waited"))
    with pytest.raises(StoreError, match=f"seed-0 is in use by process {pid} on"):
        start(store, long_config, [0])
    assert resume(store, run).elsewhere == (0,)
    assert not_started(resume(store, run)) == "seed 0 is at work already"
    monkeypatch.undo()
    assert run.seed(0).status().state in ACTIVE


@pytest.mark.usefixtures("no_worker")
def test_somebody_who_holds_a_seed_without_working_is_named_in_the_end(
    store: Store, drawn: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "PATIENCE", 0.0)
    theirs = take_lock(drawn.seed(0).lock_path)
    sentence = f"seed-0 is in use by process {os.getpid()} on"
    with pytest.raises(StoreError, match=sentence):
        start(store, drawn.config, [0])
    with pytest.raises(StoreError, match=sentence):
        begin(store, drawn, [0], leave_busy=True)
    os.close(theirs)


@pytest.mark.usefixtures("no_worker")
def test_seeds_are_locked_in_one_order_so_that_two_never_wait_for_each_other(
    store: Store, config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    def noted(path: Path, **more: Any) -> int:
        taken.append(path.parent.name)
        return take_lock(path, **more)

    monkeypatch.setattr(launching, "take_lock", noted)
    with pytest.raises(pytest.fail.Exception):
        start(store, config, [2, 0, 1])
    assert taken == ["seed-0", "seed-1", "seed-2"]


def test_what_others_began_after_a_worker_of_ours_had_ended_is_not_stopped(
    store: Store, long_config: RunConfig, fake_engine: pytest.MonkeyPatch, wait: Wait
) -> None:
    from glt.jobs import stop
    from glt.jobs.stopping import stop_workers

    ours = start(store, long_config, [0])
    stop(ours.run)
    theirs = start(store, long_config, [0])
    stop_workers(ours.workers)
    wait(ours.run, "running")
    assert ours.run.seed(0).status().pid == theirs.workers[0].status.pid


def test_a_status_of_somebody_elses_is_not_written_over_by_whoever_stops(
    store: Store, drawn: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from glt.jobs.spawning import Worker
    from glt.jobs.stopping import stop_workers

    pid, _ = identity()
    ended = Status(state="queued", seed=0, pid=1, process_started=1.0)
    drawn.seed(0).write_status(Status(state="running", seed=0, pid=pid, process_started=1.0))
    assert drawn.seed(0).status().state == "lost"
    stop_workers([Worker(drawn.seed(0), ended, 0)])
    assert drawn.seed(0).status().state == "lost"
