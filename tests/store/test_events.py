"""The file of events: read from an offset or a round at a time, truncated, unfinished and damaged."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glt.config import canonical_json
from glt.errors import StoreError
from glt.store import Event, Run, SeedRun
from glt.store.atomic_io import parse_lines, whole_lines
from glt.store.events import EventFile

# Epochs in the search and in the retraining of each round.
LENGTHS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=0, max_size=6)


def test_events_are_read_from_an_offset_up_to_the_last_newline(run: Run) -> None:
    seed_run = run.seed(1)
    seed_run.make()
    path = seed_run.path / "events.jsonl"
    losses = (float("nan"), 0.5, 0.5)
    events = [Event(round=0, stage="retrain", epoch=k, loss=loss, val=0.1, test=0.1) for k, loss in enumerate(losses)]
    seed_run.append_event(events[0])
    assert "NaN" not in path.read_text()
    found, offset = seed_run.events()
    assert found == [events[0].model_copy(update={"loss": None})]
    seed_run.append_event(events[1])
    with path.open("a") as file:
        file.write('{"round":0,"st')
    found, offset = seed_run.events(offset)
    assert found == events[1:2]
    assert seed_run.events(offset) == ([], offset)


def test_events_of_a_truncated_file_are_read_from_the_start(seed_run: SeedRun) -> None:
    finished, size = seed_run.events()
    for epoch in range(2):
        seed_run.append_event(Event(round=4, stage="search", epoch=epoch, loss=0.1, val=0.1, test=0.1))
    offset = seed_run.events()[1]
    os.truncate(seed_run.path / "events.jsonl", size)
    assert seed_run.events(offset) == (finished, size)


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


def epochs_of(file: EventFile, number: int) -> list[Event]:
    found = file.epochs(number)
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


@given(LENGTHS)
@settings(deadline=None, max_examples=40)
def test_epochs_are_read_by_round(tmp_path_factory: pytest.TempPathFactory, lengths: list[tuple[int, int]]) -> None:
    path = tmp_path_factory.mktemp("events") / "events.jsonl"
    events = events_of(lengths)
    file = written(path, events)
    assert parse_lines(path, whole_lines(path)[0], Event) == events
    assert file.rounds() == list(range(len(lengths)))
    for number in range(len(lengths) + 1):
        assert epochs_of(file, number) == [event for event in events if event.round == number]
    assert file.end() == path.stat().st_size


def test_events_with_missing_rounds_and_long_lines(tmp_path: Path) -> None:
    events = [event for event in events_of([(3, 2)] * 9) if event.round in (2, 3, 8)]
    events[-1] = events[-1].model_copy(update={"loss": None})
    file = written(tmp_path / "events.jsonl", events)
    assert file.rounds() == [2, 3, 8]
    assert epochs_of(file, 8) == events[-5:]
    assert epochs_of(file, 5) == epochs_of(file, 0) == epochs_of(file, 9) == []
    # Lines longer than a block are read whole.
    long = [event.model_copy(update={"stage": event.stage * 300}) for event in events]
    file = written(tmp_path / "events.jsonl", long)
    assert file.rounds() == [2, 3, 8]
    assert epochs_of(file, 3) == long[5:10]
    for content in (b"", b'{"round":0,"st'):
        file.path.write_bytes(content)
        assert (file.rounds(), file.end(), epochs_of(file, 0)) == ([], 0, [])
    file.path.unlink()
    assert (file.rounds(), epochs_of(file, 0)) == ([], [])


def test_an_unfinished_line_is_not_read(tmp_path: Path) -> None:
    events = events_of([(4, 3)])
    file = written(tmp_path / "events.jsonl", events[:5])
    with file.path.open("a") as lines:
        lines.write(canonical_json(events[5].model_dump(mode="json")) + '\n{"epoch":1')
    assert epochs_of(file, 0) == events[:6]
    assert file.end() < file.path.stat().st_size


def test_a_damaged_event_line_is_named_by_number(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    lines = written(path, events_of([(2, 2), (3, 3), (1, 1)])).path.read_bytes().split(b"\n")
    for damage in (b'{"round":1,"stage":7}', b"{", b"\xff\xfe", b'{"round":1', b"[]"):
        path.write_bytes(b"\n".join([*lines[:6], damage, *lines[7:]]))
        with pytest.raises(StoreError, match=r"events\.jsonl is damaged in line 7"):
            EventFile(path).epochs(1)
        assert len(EventFile(path).epochs(2)) == 2
