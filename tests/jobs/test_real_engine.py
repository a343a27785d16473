"""The promise of the run folder with the real engine: killed in mid-round and resumed, the bytes are the same."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.jobs import resume, start
from glt.presets import resolve
from glt.store import Run, SeedRun, Store

EXEMPT = {"status.json", "environment.json", "log.txt", "lock"}
SMALL = {"hidden": 16, "rounds": 2, "epochs": 40, "retrain_epochs": 40}


@pytest.fixture
def patient(wait: Callable[..., None]) -> Callable[[Run], None]:
    """Wait for a run to be done, three times as long as others do."""

    def patient(run: Run) -> None:
        deadline = time.monotonic() + 180
        while not run.seed(0).is_complete():
            assert time.monotonic() < deadline, run.seed(0).status()
            time.sleep(0.1)
        wait(run, "done")

    return patient


def kill_in(seed_run: SeedRun, round_: int, stage: str, epoch: int) -> None:
    deadline, offset, found = time.monotonic() + 180, 0, False
    while not found:
        assert time.monotonic() < deadline, seed_run.status()
        events, offset = seed_run.events(offset)
        found = any((each.round, each.stage) == (round_, stage) and each.epoch >= epoch for each in events)
    os.kill(seed_run.status().pid or 0, signal.SIGKILL)


def comparable(folder: Path) -> dict[str, object]:
    files: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in EXEMPT}
    lines = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    files["rounds.jsonl"] = [{name: value for name, value in line.items() if name != "seconds"} for line in lines]
    return files


@pytest.mark.parametrize("method", ["ugs", "admm"])
def test_killed_and_resumed_gives_the_same_bytes(
    store: Store, tmp_path: Path, patient: Callable[[Run], None], method: str
) -> None:
    config = resolve({**SMALL, "method": method}, "official")
    reference = start(Store(tmp_path / "reference"), config, [0])
    run = start(store, config, [0])
    kill_in(run.seed(0), 1, "retrain", 5)
    while run.seed(0).status().state != "lost":
        time.sleep(0.05)
    assert run.seed(0).whole_rounds() == 1
    assert resume(store, run) == [0]
    patient(run)
    patient(reference)
    after, expected = comparable(run.seed(0).path), comparable(reference.seed(0).path)
    assert sorted(after) == sorted(expected)
    assert {"round-02.safetensors", "weights-02.safetensors", "init.safetensors", "events.jsonl"} <= set(after)
    for name in expected:
        assert after[name] == expected[name], name
