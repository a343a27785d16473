"""Events are read a round at a time, and say the same as all of them read at once."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glt.config import canonical_json
from glt.errors import StoreError
from glt.store import Event
from glt.store.atomic_io import parse_lines, whole_lines
from glt.store.events import EventFile

# How many epochs each round has in its search and its retraining.
ROUNDS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=0, max_size=6)


def events_of(lengths: list[tuple[int, int]]) -> list[Event]:
    generator = np.random.default_rng(len(lengths))
    return [
        Event(round=number, stage=stage, epoch=epoch, loss=loss, val=val, test=test)
        for number, (search, retrain) in enumerate(lengths)
        for stage, count in (("search", search), ("retrain", retrain))
        for epoch, (loss, val, test) in enumerate(generator.random((count, 3)).tolist())
    ]


def written(path: Path, events: list[Event]) -> EventFile:
    path.write_text("".join(f"{canonical_json(event.model_dump(mode='json'))}\n" for event in events))
    return EventFile(path)


def told(file: EventFile, number: int, offset: int = 0) -> list[Event]:
    found, _ = file.epochs(number, offset)
    columns = zip(found.stage, found.epoch, found.loss, found.val, found.test, strict=True)
    return [
        Event(
            round=number,
            stage=found.stages[stage],
            epoch=epoch,
            loss=None if math.isnan(loss) else loss,
            val=val,
            test=test,
        )
        for stage, epoch, loss, val, test in columns
    ]


@given(ROUNDS)
@settings(deadline=None, max_examples=40)
def test_every_round_is_found_and_says_what_all_lines_say(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("events") / "events.jsonl"
    events = events_of(lengths)
    file = written(path, events)
    assert parse_lines(path, whole_lines(path)[0], Event) == events
    assert list(file.starts()) == list(range(len(lengths)))
    for number in range(len(lengths) + 1):
        assert told(file, number) == [event for event in events if event.round == number]
        assert told(file, number, file.starts().get(number, 0)) == told(file, number)
    assert file.end() == path.stat().st_size


def test_rounds_need_not_begin_with_zero_nor_follow_each_other_closely(tmp_path: Path) -> None:
    events = [event for event in events_of([(3, 2)] * 9) if event.round in (2, 3, 8)]
    file = written(tmp_path / "events.jsonl", events)
    assert list(file.starts()) == [2, 3, 8]
    assert told(file, 8) == events[-5:]
    assert told(file, 5) == told(file, 0) == told(file, 9) == []


def test_a_file_without_lines_has_no_rounds(tmp_path: Path) -> None:
    file = EventFile(tmp_path / "events.jsonl")
    assert file.starts() == {}
    assert told(file, 0) == []
    file.path.write_bytes(b'{"round":0,"st')
    assert (file.starts(), file.end(), told(file, 0)) == ({}, 0, [])


def test_reading_goes_on_where_it_ended_and_never_into_half_a_line(tmp_path: Path) -> None:
    events = events_of([(4, 3)])
    file = written(tmp_path / "events.jsonl", events[:5])
    first, offset = file.epochs(0)
    with file.path.open("a") as lines:
        lines.write(canonical_json(events[5].model_dump(mode="json")) + '\n{"epoch":1')
    second, end = file.epochs(0, offset)
    joined = first.followed_by(second)
    assert [joined.stages[stage] for stage in joined.stage] == [event.stage for event in events[:6]]
    assert joined.val.tolist() == [event.val for event in events[:6]]
    assert end == file.end() < file.path.stat().st_size
    assert len(file.epochs(0, end)[0]) == 0


def test_a_loss_that_is_not_finite_is_no_number(tmp_path: Path) -> None:
    event = events_of([(0, 1)])[0].model_copy(update={"loss": None})
    assert told(written(tmp_path / "events.jsonl", [event]), 0) == [event]


@pytest.mark.parametrize("damage", [b'{"round":1,"stage":7}', b"{", b"\xff\xfe", b'{"round":1', b"[]"])
def test_a_damaged_line_is_named_by_its_number_in_the_file(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "events.jsonl"
    lines = written(path, events_of([(2, 2), (3, 3), (1, 1)])).path.read_bytes().split(b"\n")
    lines[6] = damage
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(StoreError, match=r"events\.jsonl is damaged in line 7"):
        EventFile(path).epochs(1)
    assert len(EventFile(path).epochs(2)[0]) == 2


def test_lines_longer_than_a_block_are_read_whole(tmp_path: Path) -> None:
    events = [event.model_copy(update={"stage": event.stage * 300}) for event in events_of([(3, 2), (2, 2), (4, 1)])]
    file = written(tmp_path / "events.jsonl", events)
    assert list(file.starts()) == [0, 1, 2]
    assert told(file, 1) == [event for event in events if event.round == 1]
