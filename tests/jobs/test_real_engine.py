"""The promise of the run folder with the real engine: stopped in mid-round and resumed, the bytes are the same.

Runs that are killed are in tests/faults.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.jobs import resume, start, stop
from glt.presets import resolve
from glt.store import Run, Store

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


def comparable(folder: Path) -> dict[str, object]:
    files: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in EXEMPT}
    lines = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    files["rounds.jsonl"] = [{name: value for name, value in line.items() if name != "seconds"} for line in lines]
    return files


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
