"""A run's folder that is renamed under its worker is said to be, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from glt.jobs import worker
from glt.jobs.worker import Reporter
from glt.presets import resolve
from glt.store import Store


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
