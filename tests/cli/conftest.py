"""The command line as a process of its own, with an engine that needs no torch."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from glt.jobs import stop
from glt.store import Store

# Seconds; generous, since the machine may be busy.
PATIENCE = 1800
SHORT = ("--set", "rounds=2", "retrain_epochs=3", "epochs=1", "hidden=16")
LONG = ("--set", "rounds=400", "retrain_epochs=3", "epochs=1", "hidden=16")

Glt = Callable[..., "subprocess.CompletedProcess[str]"]
Begin = Callable[..., "subprocess.Popen[str]"]
OnTerminal = Callable[..., tuple[int, str]]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The store that GLT_STORE names; remaining workers are killed afterwards."""
    store = Store(tmp_path / "store")
    monkeypatch.setenv("GLT_STORE", str(store.root))
    yield store
    for run in store.runs():
        stop(run, grace=0)


@pytest.fixture
def begin() -> Begin:
    """Start `python -m glt ...` without waiting."""

    def begin(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "glt", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, stdin=subprocess.DEVNULL, text=True, env=os.environ)

    return begin


@pytest.fixture
def glt(begin: Begin) -> Glt:
    """Run `python -m glt ...` to its end."""

    def glt(*arguments: str) -> subprocess.CompletedProcess[str]:
        process = begin(*arguments)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    return glt


@pytest.fixture
def on_terminal() -> OnTerminal:
    """Run `python -m glt ...` to its end on a terminal of its own; returns exit code and what was drawn."""

    def on_terminal(*arguments: str) -> tuple[int, str]:
        shown, terminal = pty.openpty()
        command = [sys.executable, "-m", "glt", *arguments]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
        with subprocess.Popen(
            command, stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL, env=environment
        ) as process:
            os.close(terminal)
            drawn = b""
            while chunk := read(shown):
                drawn += chunk
        os.close(shown)
        return process.returncode, drawn.decode()

    return on_terminal


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says so at the end of a terminal
        return b""
