"""Cached readers: keys, epochs of growing files, and the end of logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.data import cache
from app.views import run_detail
from glt.config import RunConfig
from glt.errors import StoreError
from glt.store import Event, Run, Store
from tests.app.conftest import MakeRun


def test_epochs_follow_a_file_that_grows_or_is_truncated(tmp_path: Path) -> None:
    seed_run = Store(tmp_path).create(RunConfig()).seed(0)
    seed_run.make()

    def rounds() -> list[int]:
        return cache.rounds_with_epochs(cache.events_stamp(seed_run), seed_run)

    def add(number: int, epochs: range) -> None:
        for epoch in epochs:
            seed_run.append_event(Event(round=number, stage="retrain", epoch=epoch, loss=None, val=0.5, test=0.5))

    assert rounds() == []
    add(0, range(3))
    add(1, range(2))
    assert rounds() == [0, 1]
    seen = cache.events_stamp(seed_run)
    assert cache.events_stamp(seed_run) == seen
    add(2, range(1))
    assert cache.events_stamp(seed_run) != seen
    assert rounds() == [0, 1, 2]
    path = seed_run.event_file.path
    path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:2]) + b"\n")
    assert rounds() == [0]
    path.unlink()
    assert rounds() == []


def test_only_the_end_of_a_long_log_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    assert run_detail.tail(path, 3) == ""
    path.write_text("".join(f"line {number}\n" for number in range(50_000)))
    assert run_detail.tail(path, 3) == "line 49997\nline 49998\nline 49999\n"
    path.write_text("one\ntwo\nthree")
    assert run_detail.tail(path, 2) == "two\nthree"
    assert run_detail.tail(path, 9) == "one\ntwo\nthree"
    path.write_bytes(b"\xff" * 2 * run_detail.MOST_BYTES)
    assert len(run_detail.tail(path, 3)) == run_detail.MOST_BYTES


def test_results_are_cached_until_the_run_changes(make_run: MakeRun, store: Store) -> None:
    run, computed = make_run("ugs"), []

    @cache.cached(4)
    def first(run: Run) -> int:
        computed.append(run)
        return len(computed)

    @cache.cached(4)
    def second(run: Run) -> int:
        return -1

    assert [first(run), first(run), second(run)] == [1, 1, -1]
    store.annotate(run.name, {"title": "Mine"})
    assert first(store.find(run.name)) == 2


def test_an_error_of_the_store_reaches_the_page(make_run: MakeRun) -> None:
    run = make_run("ugs")
    (run.path / "seed-0" / "rounds.jsonl").write_text("damaged")
    with pytest.raises(StoreError, match="damaged"):
        cache.rounds_of([run])


def test_only_arguments_with_a_key_are_cached() -> None:
    with pytest.raises(TypeError, match="no cache key for set"):
        cache.cache_key({1})
