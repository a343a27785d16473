"""The promise of the run folder with the real engine: stopped in mid-round and resumed, the bytes are the same.

Runs that are killed are in tests/robustness/faults.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.jobs import resume, start, stop
from glt.presets import resolve
from glt.store import Run, Store

EXEMPT = {"status.json", "environment.json", "log.txt", "lock"}


def comparable(folder: Path) -> dict[str, object]:
    files: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in EXEMPT}
    lines = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    files["rounds.jsonl"] = [{name: value for name, value in line.items() if name != "seconds"} for line in lines]
    return files


def stopped_in_round_1(store: Store, wait: Callable[..., None]) -> Run:
    """Stop a run in the middle of round 1; where the machine was faster than the test, one of more epochs."""
    for epochs in (40, 160, 640, 2560):
        config = resolve({"hidden": 16, "rounds": 1, "epochs": epochs, "retrain_epochs": epochs}, "official")
        run = start(store, config, [0]).run
        wait(run, "running", "done", rounds=1)
        if stop(run):
            return run
    pytest.fail("round 1 was always over before the run was stopped")


def test_stopped_in_mid_round_loses_nothing(store: Store, tmp_path: Path, wait: Callable[..., None]) -> None:
    run = stopped_in_round_1(store, wait)
    reference = start(Store(tmp_path / "reference"), run.config, [0]).run
    epochs = [event for event in run.seed(0).events()[0] if event.round == 1]
    assert run.seed(0).drop_unfinished() == 1
    assert [event for event in run.seed(0).events()[0] if event.round == 1] == epochs
    checkpoint = run.seed(0).checkpoint()
    assert checkpoint is not None
    assert checkpoint.epochs == len(epochs) > 0
    assert resume(store, run).seeds == (0,)
    for each in (run, reference):
        wait(each, "done")
    after, expected = comparable(run.seed(0).path), comparable(reference.seed(0).path)
    assert after == expected
