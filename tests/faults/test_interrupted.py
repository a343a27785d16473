"""Ctrl-C on a terminal stops a run as `glt stop` does: exit 130, and the same command goes on to the same bytes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glt.store import Store
from tests.faults.equal_runs import assert_equal

SETTINGS = ("--set", "rounds=8", "retrain_epochs=4", "epochs=1", "hidden=16")
PATIENCE = 1800


def glt(store: Path) -> list[str]:
    return [sys.executable, "-m", "glt", "run", "--store", str(store), *SETTINGS]


def begun_on_terminal(command: list[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command in the foreground of a terminal of its own; return it and the terminal's other end."""
    end, terminal = pty.openpty()
    # A session's leader owns the first terminal that it opens.
    script = f'exec "$@" <{os.ttyname(terminal)} >{os.ttyname(terminal)} 2>&1'
    process = subprocess.Popen(["/bin/sh", "-c", script, "sh", *command], start_new_session=True)
    return process, end


@pytest.mark.usefixtures("fake_engine")
def test_ctrl_c_in_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(glt(tmp_path / "reference"), check=True, stdout=subprocess.DEVNULL)
    monkeypatch.setenv("FAKE_PAUSE", "2")
    store = Store(tmp_path / "store")
    process, terminal = begun_on_terminal(glt(store.root))
    deadline = time.monotonic() + PATIENCE
    while not store.runs() or store.runs()[0].seed(0).whole_rounds() < 1:
        assert time.monotonic() < deadline, "the first round does not come"
        time.sleep(0.02)
    os.write(terminal, b"\x03")
    assert process.wait(PATIENCE) == 130
    os.close(terminal)
    run = store.runs()[0]
    assert run.seed(0).status().state == "stopped"
    assert 1 <= run.seed(0).whole_rounds() <= 2
    monkeypatch.delenv("FAKE_PAUSE")
    subprocess.run(glt(store.root), check=True, stdout=subprocess.DEVNULL)
    assert_equal(run.path, tmp_path / "reference" / run.name)
