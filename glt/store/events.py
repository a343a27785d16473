"""Epochs of a seed, read one round at a time.

Eight hours of training are a million lines, of which a page shows one round. Lines are ordered by round, because a
resume cuts off what follows the last whole round, so a round is found by bisection and the rest is not read. Epochs are
kept as columns, 28 bytes each.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, TypeAdapter, ValidationError

from glt.errors import StoreError
from glt.store.atomic_io import SEE_DOCTOR, parse_lines, reading, whole_lines
from glt.store.checksums import check_epochs, check_events, checksums_in
from glt.store.records import Event

# Bytes read at once where a line is looked for, which is about 100 long.
BLOCK = 1024
ROUND = re.compile(rb'"round":\s*(\d+)')
# After the last line of the file: no round has this number.
BEYOND = 2**63

FloatArray = NDArray[np.float64]


@dataclass(slots=True)
class _Line:
    """An Event for bulk parsing: twice as fast, not frozen."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    round: int
    stage: str
    epoch: int
    loss: float | None
    val: float
    test: float


_lines = TypeAdapter(list[_Line])


@dataclass(frozen=True, eq=False)
class Epochs:
    """The epochs of one round in order, as columns; a loss that is not finite is NaN."""

    stages: tuple[str, ...]
    stage: NDArray[np.int32]
    epoch: NDArray[np.int32]
    loss: FloatArray
    val: FloatArray
    test: FloatArray

    def __len__(self) -> int:
        return self.epoch.size


class EventFile:
    """A seed's file of events; it may grow, or be cut by a resume, between two reads."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def end(self) -> int:
        """Return the offset after the last whole line."""
        with self._opened() as file:
            return _end(file)

    def events(self, offset: int = 0) -> tuple[list[Event], int]:
        """Return the events from byte `offset` to the last whole line, and the next offset.

        If a resume cut the file, all are returned: a later event of a round, stage and epoch replaces the earlier.
        """
        known = checksums_in(self.path.parent)
        lines, end = whole_lines(self.path, offset)
        check_events(self.path, known, lines, end - sum(map(len, lines)) - len(lines))
        return parse_lines(self.path, lines, Event), end

    def rounds(self) -> list[int]:
        """Return the rounds that have any line, in order; lines between them are not read."""
        found: list[int] = []
        with self._opened() as file:
            end = _end(file)
            start = 0
            while (number := _round_from(file, start, end)) != BEYOND:
                found.append(number)
                places = range(start, end)
                start += bisect_right(places, number, key=lambda place: _round_from(file, place, end))
        return found

    def epochs(self, round: int) -> Epochs:
        """Return the epochs of a round; lines of other rounds are not read."""
        known = checksums_in(self.path.parent)[round : round + 1]
        with self._opened() as file:
            end = _end(file)
            offset = bisect_left(range(end), round, key=lambda place: _round_from(file, place, end))
            offset = _line_from(file, offset, end)
            places = range(offset, end)
            stop = offset + bisect_right(places, round, key=lambda place: _round_from(file, place, end))
            stop = _line_from(file, stop, end)
            file.seek(offset)
            content = file.read(stop - offset)
            for written in known:
                file.seek(written.start)
                check_epochs(self.path, written, file.read(written.end - written.start))
        rows = [row for row in self._parsed(content, offset) if row.round == round]
        return _columns(rows)

    def _parsed(self, content: bytes, offset: int) -> list[_Line]:
        try:
            return _lines.validate_json(b"[%b]" % content.rstrip(b"\n").replace(b"\n", b","))
        except ValidationError:
            with self._opened() as file:
                first = file.read(offset).count(b"\n") + 1
            parse_lines(self.path, content.split(b"\n")[:-1], Event, first)
            raise StoreError(f"{self.path} is damaged after line {first}: {SEE_DOCTOR}.") from None

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        """Open the file; a missing one has no lines."""
        there = self.path if os.path.lexists(self.path) else Path(os.devnull)
        with reading(self.path, SEE_DOCTOR), there.open("rb") as file:
            yield file


def _columns(rows: Sequence[_Line]) -> Epochs:
    stages = tuple(dict.fromkeys(row.stage for row in rows))
    numbers = {name: number for number, name in enumerate(stages)}
    return Epochs(
        stages,
        np.array([numbers[row.stage] for row in rows], np.int32),
        np.array([row.epoch for row in rows], np.int32),
        *(np.array([getattr(row, name) for row in rows], float) for name in ("loss", "val", "test")),
    )


def _end(file: BinaryIO) -> int:
    """Return the offset after the last newline."""
    size = file.seek(0, os.SEEK_END)
    while size > 0:
        begin = max(size - BLOCK, 0)
        file.seek(begin)
        newline = file.read(size - begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        size = begin
    return 0


def _line_from(file: BinaryIO, place: int, end: int) -> int:
    """Return the offset of the first line starting at `place` or later, `end` without any."""
    if place <= 0:
        return 0
    begin = place - 1
    while begin < end:
        file.seek(begin)
        block = file.read(BLOCK)
        newline = block.find(b"\n")
        if newline >= 0 or not block:
            return min(begin + newline + 1, end)
        begin += len(block)
    return end


def _round_from(file: BinaryIO, place: int, end: int) -> int:
    """Return the round of the first valid line starting at `place` or later, BEYOND without any."""
    start = _line_from(file, place, end)
    while start < end:
        file.seek(start)
        line = file.readline()
        match = ROUND.search(line)
        if match:
            return int(match[1])
        start += len(line) or end
    return BEYOND
