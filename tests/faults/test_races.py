"""Two that start the same seed at the same instant: one of them works, the other says so, and nothing is torn."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.jobs import stop
from glt.store import Store
from tests.faults.effort import THOROUGH
from tests.faults.equal_runs import assert_equal

ROOT = Path(__file__).parents[2]
RACES = 20 if THOROUGH else 2
# Everything is imported before the start; the start is a moment both know.
RACER = """
import sys, time
from glt.errors import StudioError
from glt.jobs import start
from glt.presets import resolve
from glt.store import Store
config = resolve({"rounds": 3, "epochs": 1, "retrain_epochs": 3, "hidden": 16})
start.__module__, resolve(dict(rounds=1))
import glt.jobs.forecast, glt.data
glt.data.load_graph("cora")
print("ready", flush=True)
moment = float(sys.stdin.readline())
while time.monotonic() < moment:
    pass
try:
    start(Store(sys.argv[1]), config, [0], tied=False)
except StudioError as error:
    print(error)
else:
    print("started")
"""


def race(store: Path) -> list[str]:
    """Start the same seed in two processes at the same instant; return what each one says."""
    command = [sys.executable, "-c", RACER, str(store)]
    pipe = subprocess.PIPE
    racers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) for _ in range(2)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    moment = f"{time.monotonic() + 0.1}\n"
    return [racer.communicate(moment, timeout=300)[0] for racer in racers]


@pytest.mark.usefixtures("fake_engine")
def test_exactly_one_of_two_starts_the_seed(
    tmp_path: Path, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}")
    monkeypatch.setenv("FAKE_EPOCH", "0.05")
    runs: list[Path] = []
    for number in range(RACES):
        store = Store(tmp_path / str(number))
        said = race(store.root)
        refused = [words for words in said if words != "started\n"]
        assert len(refused) == 1, said
        assert "seed-0 is in use by " in refused[0]
        assert refused[0].count("\n") == 1
        runs.append(store.runs()[0].path)
    for path in runs:
        finished(path)
        assert_equal(path, runs[0])
    say(f"\n{RACES} races of two for one seed: one worker each, all runs equal")


def finished(path: Path) -> None:
    run = Store(path.parent).find(path.name)
    deadline = time.monotonic() + 300
    while run.seed(0).status().state != "done":
        assert time.monotonic() < deadline, run.seed(0).status()
        time.sleep(0.05)
    assert stop(run) == []
