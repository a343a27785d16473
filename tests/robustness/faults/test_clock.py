"""Setting the clock forward or back loses no run, stops no heartbeat and makes no duration negative."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from glt.config import RunConfig
from glt.jobs import stop, worker
from glt.jobs.queue import join_line, wait_for_slot
from glt.presets import resolve
from glt.store import Run, SeedRun, Status, Store
from glt.store.locks import named_process

Patch = pytest.MonkeyPatch
Available = Callable[[float], None]

HOUR = 3600.0
JUMPS = (HOUR, -HOUR, 400 * 24 * HOUR)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Store(tmp_path / "store").create(RunConfig(rounds=2))


@pytest.fixture
def seed_run(run: Run) -> SeedRun:
    seed_run = run.seed(0)
    seed_run.make()
    return seed_run


@pytest.fixture
def jump(monkeypatch: Patch) -> Available:
    """Set the clock: Linux then tells another time of boot, from which start times of processes are reckoned."""
    boot, now = psutil.boot_time(), time.time

    def jump(seconds: float) -> None:
        monkeypatch.setattr(psutil._psplatform, "boot_time", lambda: boot + seconds)
        monkeypatch.setattr(time, "time", lambda: now() + seconds)

    return jump


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the kernel keeps start times since 1970")


@linux
@pytest.mark.parametrize("seconds", JUMPS)
def test_a_worker_survives_a_clock_jump_and_can_be_stopped(
    run: Run, seed_run: SeedRun, jump: Available, sleeper: subprocess.Popen[bytes], seconds: float
) -> None:
    seed_run.write_status(Status(state="running", seed=0, **named_process(sleeper.pid)))
    jump(seconds)
    assert seed_run.status().state == "running"
    assert seed_run.is_at_work()
    assert stop(run) == [0]
    assert sleeper.wait(timeout=1800) != 0


@linux
def test_a_reused_pid_is_not_the_worker(seed_run: SeedRun, jump: Available, sleeper: subprocess.Popen[bytes]) -> None:
    named = named_process(sleeper.pid)
    for mark in (f"{named['process_mark']}1", None):
        seed_run.write_status(Status(state="running", seed=0, **{**named, "process_mark": mark}))
        jump(HOUR)
        assert seed_run.status().state == "lost"
        jump(0)


def test_heartbeats_continue_after_a_clock_jump(seed_run: SeedRun, jump: Available, monkeypatch: Patch) -> None:
    monkeypatch.setattr(worker, "LOOK_AGAIN", 0.01)
    monkeypatch.setattr(worker, "HEARTBEAT", 0.02)
    reporter = worker.Reporter(seed_run, threads=1)
    reporter.begin()
    first = seed_run.status().heartbeat
    jump(-HOUR)
    deadline = time.monotonic() + 1800
    while seed_run.status().heartbeat > first - HOUR / 2:
        assert time.monotonic() < deadline, "no beat since the clock was set back"
        time.sleep(0.01)
    reporter.finish("stopped")
    assert seed_run.status().state == "stopped"


def test_the_queue_advances_after_a_clock_jump(tmp_path: Path) -> None:
    now = time.time()
    first, _ = join_line(tmp_path, now)
    second, _ = join_line(tmp_path, now - HOUR)
    for ticket in (second, first):
        # The descriptor stays open: the slot is taken by whoever got it.
        assert wait_for_slot(tmp_path, ticket, slots=2, should_stop=lambda: False) is not None


def test_durations_do_not_depend_on_the_clock(tmp_path: Path, monkeypatch: Patch) -> None:
    from glt.lottery.lottery import compute_rounds

    left: list[float | None] = []

    now, jumps = time.time, itertools.cycle((HOUR, -HOUR, 0.0))
    monkeypatch.setattr(time, "time", lambda: now() + next(jumps))
    config = resolve({"hidden": 8, "epochs": 3, "retrain_epochs": 3, "rounds": 1})
    seed_run = Store(tmp_path / "store").create(config).seed(0)
    with seed_run.lock():
        observer = SimpleNamespace(on_progress=lambda now: left.append(now.seconds_left), should_stop=lambda: False)
        compute_rounds(seed_run, observer)
    assert all(0 <= record.seconds < HOUR / 2 for record in seed_run.rounds())
    assert all(seconds is None or 0 <= seconds < HOUR / 2 for seconds in left)
    assert left[-1] == 0
