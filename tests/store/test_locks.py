"""Locks of seed folders, and states of workers by process id, heartbeat and lock."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from glt.errors import StoreError
from glt.store import Run, SeedRun, State, Status, locks
from glt.store.locks import is_locked, named_process

HOLDER = """
import sys
from glt.store import Store
with Store(sys.argv[1]).find(sys.argv[2]).seed(0).lock():
    print("held", flush=True)
    sys.stdin.readline()
print("free", flush=True)
"""


def test_a_second_process_learns_the_lock_owner(run: Run) -> None:
    command = [sys.executable, "-c", HOLDER, str(run.path.parent), run.name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        seed_run = run.seed(0)
        assert is_locked(seed_run.lock_path)
        sentence = f"seed-0 is in use by process {process.pid} on {socket.gethostname()}"
        with pytest.raises(StoreError, match=sentence), seed_run.lock():
            pytest.fail("the lock was given twice")
        process.send_signal(signal.SIGKILL)
    # The owner may enter again.
    with seed_run.lock(), seed_run.lock():
        assert f"process {os.getpid()} on" in seed_run.lock_path.read_text()
        assert is_locked(seed_run.lock_path)
    assert not is_locked(seed_run.lock_path)


def test_a_briefly_held_lock_is_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", HOLDER, str(run.path.parent), run.name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        looks = itertools.count()

        def sleep(_: float) -> None:
            """Release the lock at the second attempt."""
            if next(looks) == 1:
                process.communicate(b"go\n")

        # Even on a slow machine there is a second for another attempt.
        monkeypatch.setattr(locks, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: 0.0))
        with run.seed(0).lock():
            assert f"process {os.getpid()} on" in run.seed(0).lock_path.read_text()


def status(state: State = "running", **more: object) -> Status:
    return Status.model_validate({"host": socket.gethostname(), "state": state, "seed": 0, **more})


@pytest.fixture
def fresh(run: Run) -> SeedRun:
    fresh = run.seed(0)
    fresh.make()
    return fresh


@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_reused_pid_is_not_the_worker(fresh: SeedRun, state: State) -> None:
    process = named_process()
    fresh.write_status(status(state, **process))
    assert fresh.status().state == state
    assert fresh.is_at_work()
    process |= {"process_started": process["process_started"] - 100, "process_mark": None}
    fresh.write_status(status(state, **process))
    assert fresh.status().state == "lost"
    assert not fresh.is_at_work()
    assert "log.txt" in (fresh.status().error or "")


def test_dead_and_zombie_workers_are_lost(fresh: SeedRun) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    fresh.write_status(status(**named_process(process.pid)))
    assert fresh.status().state == "running"
    process.kill()
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert fresh.status().state == "lost"
    process.communicate()
    assert fresh.status().state == "lost"


def test_a_final_state_needs_no_process(fresh: SeedRun, seed_run: SeedRun) -> None:
    (seed_run.path / "status.json").unlink(missing_ok=True)
    assert seed_run.status().state == "done"
    one = SeedRun(fresh.path.parent, 1, fresh.config)
    one.make()
    # A run may have been extended since it was done.
    for state, found in (("stopped", "stopped"), ("failed", "failed"), ("done", "stopped")):
        one.write_status(status(state, pid=os.getpid(), process_started=1.0))  # type: ignore[arg-type]
        assert one.status().state == found
        assert not one.is_at_work()


def test_a_remote_worker_is_alive_by_heartbeat_or_lock(fresh: SeedRun) -> None:
    fresh.write_status(status(host="another", pid=1, process_started=1.0, heartbeat=time.time()))
    assert fresh.status().state == "running"
    # Clocks of two hosts may differ.
    for heartbeat in (time.time() - 1000, time.time() - 400 * 24 * 3600):
        fresh.write_status(status(host="another", pid=1, process_started=1.0, heartbeat=heartbeat))
        with fresh.lock():
            assert fresh.status().state == "running"
        assert fresh.status().state == "lost"


def test_a_status_is_overwritten_on_a_full_disk(fresh: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    fresh.write_status(status(pid=os.getpid()))
    monkeypatch.setattr(Path, "replace", full)
    fresh.write_status(status("failed", error="The disk is full."))
    assert fresh.status().error == "The disk is full."
    (fresh.path / "status.json").unlink()
    with pytest.raises(StoreError, match="disk is full"):
        fresh.write_status(status("failed"))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"state":"happy","seed":0}'])
def test_a_damaged_status_is_not_a_failure(fresh: SeedRun, content: bytes) -> None:
    (fresh.path / "status.json").write_bytes(content)
    found = fresh.status()
    assert found.state == "lost"
    assert "status.json is damaged" in (found.error or "")
