"""A resume goes on after the last whole round and leaves no trace of what came after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from glt.store import Event, SeedRun

OneRound = Callable[[SeedRun, int], None]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_nothing_to_drop_changes_nothing(seed_run: SeedRun) -> None:
    before = content(seed_run.path)
    assert seed_run.drop_unfinished() == 4
    assert content(seed_run.path) == before


def test_a_seed_that_never_began_starts_at_round_0(seed_run: SeedRun) -> None:
    fresh = SeedRun(seed_run.path.parent, 5, seed_run.config)
    assert fresh.drop_unfinished() == 0
    assert not fresh.path.exists()


def test_what_a_killed_worker_left_is_cleared(seed_run: SeedRun) -> None:
    before = content(seed_run.path)
    seed_run.append_event(Event(round=4, stage="search", epoch=0, loss=0.1, val=0.1, test=0.1))
    for name in ("events.jsonl", "rounds.jsonl"):
        (seed_run.path / name).write_bytes((seed_run.path / name).read_bytes() + b'{"round":4,"sta')
    (seed_run.path / "weights-04.safetensors").write_bytes(b"half")
    (seed_run.path / ".round-04.safetensors.12-3.writing").write_bytes(b"half")
    assert seed_run.drop_unfinished() == 4
    assert content(seed_run.path) == before


@pytest.mark.parametrize("name", ["round-02.safetensors", "weights-02.safetensors"])
def test_a_round_with_a_damaged_file_is_computed_again(seed_run: SeedRun, one_round: OneRound, name: str) -> None:
    before = content(seed_run.path)
    (seed_run.path / name).write_bytes(b"damaged")
    assert seed_run.drop_unfinished() == 2
    assert {event.round for event in seed_run.events()[0]} == {0, 1}
    assert len(seed_run.rounds()) == 2
    for number in (2, 3):
        one_round(seed_run, number)
    assert content(seed_run.path) == before


def test_a_damaged_line_is_computed_again(seed_run: SeedRun, one_round: OneRound) -> None:
    before = content(seed_run.path)
    path = seed_run.path / "rounds.jsonl"
    path.write_bytes(before["rounds.jsonl"].replace(b'"round":1', b'"round":7'))
    assert seed_run.drop_unfinished() == 1
    for number in (1, 2, 3):
        one_round(seed_run, number)
    assert content(seed_run.path) == before
