"""One process owns a seed folder, and a dead one gives it back."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from glt.errors import StoreError
from glt.store import Run, SeedRun, locks
from glt.store.locks import is_locked

HOLDER = """
import sys
from glt.store import Store
with Store(sys.argv[1]).find(sys.argv[2]).seed(0).lock():
    print("held", flush=True)
    sys.stdin.readline()
print("free", flush=True)
"""


def test_a_second_process_is_told_who_owns_the_folder(run: Run) -> None:
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
    with seed_run.lock():
        assert f"process {os.getpid()} on" in seed_run.lock_path.read_text()
    assert not is_locked(seed_run.lock_path)


def test_the_owner_may_enter_again(run: Run, filled: Callable[..., SeedRun]) -> None:
    seed_run = run.seed(0)
    with seed_run.lock(), seed_run.lock():
        assert is_locked(seed_run.lock_path)
    assert not is_locked(seed_run.lock_path)


def test_a_glance_at_the_lock_keeps_nobody_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", HOLDER, str(run.path.parent), run.name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        looks = itertools.count()

        def sleep(_: float) -> None:
            """Have the lock given back at the second look."""
            if next(looks) == 1:
                process.communicate(b"go\n")

        # However slow the machine is, there is a second in which to look again.
        monkeypatch.setattr(locks, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: 0.0))
        with run.seed(0).lock():
            assert f"process {os.getpid()} on" in run.seed(0).lock_path.read_text()
