"""Rounds that the disk could not hold are refused; those that are there already need no room."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from glt.config import RunConfig
from glt.errors import StoreError
from glt.jobs import start
from glt.jobs.estimate import missing_bytes
from glt.jobs.sweep import start_all
from glt.store import Store, run_name

Wait = Callable[..., None]

pytestmark = pytest.mark.usefixtures("fake_engine")


def test_rounds_that_no_disk_could_hold_are_refused_before_anything_is_made(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_000))
    with pytest.raises(StoreError, match=r"would fill about .* MB, but only 1.00 MB are free"):
        start(store, RunConfig(hidden=64), [0, 1])
    assert store.runs() == []


def test_only_missing_rounds_need_room_and_those_of_a_sweep_together(
    store: Store, config: RunConfig, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait(start(store, config, [0]).run, "done")
    one = missing_bytes(store, [config], [1])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=one))
    other = config.model_copy(update={"p_graph": 0.2})
    with pytest.raises(StoreError, match="are free where the store"):
        start_all(store, [config, other], [1])
    assert [run.name for run in store.runs()] == [run_name(config)]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    assert start(store, config, [0]).run.seed(0).status().state == "done"
