"""Cached readers: keys, epochs that are read on, and the end of logs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from app.data import cache
from app.data.cache import Reader
from app.views import run_detail
from glt.config import RunConfig
from glt.errors import StoreError
from glt.store import Event, Run, SeedRun, Store


@pytest.fixture
def seed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SeedRun:
    """A seed without events, of which every look is a new one."""
    monkeypatch.setattr(cache, "FRESH", 0.0)
    seed = Store(tmp_path).create(RunConfig()).seed(0)
    seed.make()
    return seed


def add(seed_run: SeedRun, number: int, epochs: range, value: float = 0.5) -> None:
    for epoch in epochs:
        at = value + number + epoch / 1000
        seed_run.append_event(Event(round=number, stage="retrain", epoch=epoch, loss=None, val=at, test=-at))


def check(reader: Reader, seed_run: SeedRun) -> None:
    """Hold every round against a reading of all lines."""
    everything = seed_run.events()[0]
    assert reader.rounds() == sorted({event.round for event in everything})
    for number in [*reader.rounds(), 99]:
        expected = [event for event in everything if event.round == number]
        found = reader.epochs(number).epochs
        assert found.epoch.tolist() == [event.epoch for event in expected]
        assert found.val.tolist() == [event.val for event in expected]
        assert found.test.tolist() == [event.test for event in expected]
        assert all(map(math.isnan, found.loss))


def test_a_file_that_grows_is_read_on(seed_run: SeedRun) -> None:
    reader = Reader(seed_run)
    check(reader, seed_run)
    for number in range(4):
        add(seed_run, number, range(3))
        check(reader, seed_run)
        add(seed_run, number, range(3, 7))
        check(reader, seed_run)


def test_a_file_that_a_resume_cuts_is_told_as_it_is(seed_run: SeedRun) -> None:
    reader, path = Reader(seed_run), seed_run.event_file.path
    add(seed_run, 0, range(20))
    add(seed_run, 1, range(20))
    check(reader, seed_run)
    content = path.read_bytes()
    path.write_bytes(b"\n".join(content.split(b"\n")[:25]) + b"\n")
    check(reader, seed_run)
    # Grown again beyond where it was cut, with other values, between two looks.
    path.write_bytes(b"\n".join(content.split(b"\n")[:22]) + b"\n")
    add(seed_run, 1, range(2, 60), value=0.7)
    check(reader, seed_run)
    path.unlink()
    check(reader, seed_run)


def test_only_rounds_that_are_looked_at_are_kept(seed_run: SeedRun) -> None:
    for number in range(6):
        add(seed_run, number, range(5))
    reader = Reader(seed_run)
    check(reader, seed_run)
    assert len(reader._kept) <= cache.MOST_ROUNDS
    check(reader, seed_run)


def test_what_changes_with_the_epochs_stays_while_they_do(seed_run: SeedRun) -> None:
    add(seed_run, 0, range(5))
    reader = Reader(seed_run)
    first = reader.epochs(0)
    assert reader.epochs(0).stamp == first.stamp
    assert reader.epochs(0).epochs is first.epochs
    add(seed_run, 0, range(5, 6))
    assert reader.epochs(0).stamp != first.stamp


def test_one_look_serves_every_tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH", 60.0)
    seed = Store(tmp_path).create(RunConfig()).seed(0)
    seed.make()
    add(seed, 0, range(2))
    reader = Reader(seed)
    assert reader.rounds() == [0]
    add(seed, 1, range(2))
    assert reader.rounds() == [0]


def test_a_long_log_is_shown_by_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    assert run_detail.tail(path, 3) == ""
    path.write_text("".join(f"line {number}\n" for number in range(50_000)))
    assert run_detail.tail(path, 3) == "line 49997\nline 49998\nline 49999\n"
    path.write_text("one\ntwo\nthree")
    assert run_detail.tail(path, 2) == "two\nthree"
    assert run_detail.tail(path, 9) == "one\ntwo\nthree"
    path.write_bytes(b"\xff" * 2 * run_detail.MOST_BYTES)
    assert len(run_detail.tail(path, 3)) == run_detail.MOST_BYTES


def test_a_result_is_kept_until_its_run_changes(make_run: Callable[..., Run], store: Store) -> None:
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


def test_an_error_of_the_store_reaches_the_page(make_run: Callable[..., Run]) -> None:
    run = make_run("ugs")
    (run.path / "seed-0" / "rounds.jsonl").write_text("damaged")
    with pytest.raises(StoreError, match="damaged"):
        cache.rounds_of([run])


def test_only_what_has_a_key_is_cached() -> None:
    with pytest.raises(TypeError, match="no cache key for set"):
        cache.cache_key({1})
