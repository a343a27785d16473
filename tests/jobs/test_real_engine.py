"""The promise of the run folder with the real engine: killed in mid-round and resumed, the bytes are the same."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.jobs import resume, start, stop
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


def wait_for_loss(seed_run: SeedRun) -> None:
    while seed_run.status().state != "lost":
        time.sleep(0.05)


def assert_same(run: Run, reference: Run) -> None:
    after, expected = comparable(run.seed(0).path), comparable(reference.seed(0).path)
    assert sorted(after) == sorted(expected)
    assert {"round-02.safetensors", "weights-02.safetensors", "init.safetensors", "events.jsonl"} <= set(after)
    for name in expected:
        assert after[name] == expected[name], name


@pytest.mark.parametrize(
    ("method", "stage", "seconds"), [("ugs", "search", "0"), ("ugs", "retrain", "60"), ("admm", "retrain", "0")]
)
def test_killed_and_resumed_gives_the_same_bytes(
    store: Store,
    tmp_path: Path,
    patient: Callable[[Run], None],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    stage: str,
    seconds: str,
) -> None:
    monkeypatch.setenv("GLT_CHECKPOINT_SECONDS", seconds)
    config = resolve({**SMALL, "method": method}, "official")
    reference = start(Store(tmp_path / "reference"), config, [0])
    run = start(store, config, [0])
    kill_in(run.seed(0), 1, stage, 5)
    wait_for_loss(run.seed(0))
    assert run.seed(0).whole_rounds() == 1
    assert (run.seed(0).path / "checkpoint.safetensors").exists()
    assert resume(store, run) == [0]
    patient(run)
    patient(reference)
    assert_same(run, reference)
    assert "left aside" not in run.seed(0).log_path.read_text()


def test_stopped_in_mid_round_loses_nothing(
    store: Store, tmp_path: Path, patient: Callable[[Run], None], wait: Callable[..., None]
) -> None:
    config = resolve({**SMALL, "rounds": 1}, "official")
    reference = start(Store(tmp_path / "reference"), config, [0])
    run = start(store, config, [0])
    wait(run, "running", rounds=1)
    assert stop(run) == [0]
    epochs = [event for event in run.seed(0).events()[0] if event.round == 1]
    assert run.seed(0).drop_unfinished() == 1
    assert [event for event in run.seed(0).events()[0] if event.round == 1] == epochs
    checkpoint = run.seed(0).checkpoint()
    assert checkpoint is not None
    assert checkpoint.epochs == len(epochs) > 0
    assert resume(store, run) == [0]
    patient(run)
    patient(reference)
    after, expected = comparable(run.seed(0).path), comparable(reference.seed(0).path)
    assert after == expected
