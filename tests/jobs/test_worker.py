"""The worker process: its exit codes, its status, and a folder that is renamed under it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from glt.config import RunConfig
from glt.jobs import worker
from glt.jobs.worker import NICENESS, Reporter, main
from glt.presets import resolve
from glt.store import Store

STARTER = """
import sys
from glt.config import RunConfig
from glt.jobs import start
from glt.store import Store
config = RunConfig.model_validate_json(sys.argv[2])
start(Store(sys.argv[1]), config, [0], tied=sys.argv[3] == "tied")
print("started", flush=True)
sys.stdin.read()
"""

IMPORTS = """
import sys
import glt.jobs, glt.jobs.worker, glt.cli.main
glt.cli.main.main(["--help"])
heavy = {"torch", "torch_geometric", "pandas", "matplotlib", "streamlit", "scipy.optimize"} & set(sys.modules)
sys.exit(f"imported {heavy}" if heavy else 0)
"""


@pytest.mark.usefixtures("slow_engine")
@pytest.mark.parametrize("tie", ["tied", "free"])
def test_killing_the_starter(store: Store, long_config: RunConfig, wait: Callable[..., None], tie: str) -> None:
    command = [sys.executable, "-c", STARTER, str(store.root), long_config.model_dump_json(), tie]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"started\n"
        run = store.create(long_config)
        wait(run, "running", rounds=1)
        starter.send_signal(signal.SIGKILL)
        starter.wait()
    if tie == "tied":
        wait(run, "lost")
    else:
        killed = time.time()
        while run.seed(0).status().heartbeat <= killed:
            assert run.seed(0).status().state == "running"
            time.sleep(0.05)


@pytest.mark.usefixtures("slow_engine")
def test_a_signal_stops_a_worker(store: Store, long_config: RunConfig, wait: Callable[..., None]) -> None:
    run = store.create(long_config)
    command = [sys.executable, "-m", "glt.jobs.worker", str(store.root), run.name, "4"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as worker:
        wait(run, "running", "lost", seeds=[4], rounds=1)  # lost: before its first status
        # The nicest there is are 19, whatever is added.
        assert psutil.Process(worker.pid).nice() == min(psutil.Process().nice() + NICENESS, 19)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=1800) == 130
    assert run.seed(4).status().state == "stopped"


def test_waiting_workers_and_the_command_line_import_nothing_heavy() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", IMPORTS], check=True, env=environment)


def test_an_unknown_run_is_one_sentence(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(store.root), "nothing", "0"]) == 1
    assert capsys.readouterr().err.startswith("No run 'nothing' in the store")


def test_a_folder_that_goes_while_its_worker_waits_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path)
    run = store.create(resolve({"hidden": 4, "rounds": 1, "epochs": 1, "retrain_epochs": 1}, "official"))

    def renamed(seed_run: object, queue: object, ticket: object, reporter: Reporter, settings: object) -> bool:
        run.path.rename(tmp_path / "my best run")
        reporter._written = None
        reporter._write_if_due()
        return not reporter.should_stop()

    monkeypatch.setattr(worker, "_has_slot", renamed)
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)
    assert worker.main([str(tmp_path), run.name, "0"]) == worker.FAILED
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "moved or deleted while it computed" in told
