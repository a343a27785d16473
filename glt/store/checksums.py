"""Checksums of finished rounds (checksums.jsonl): of each round's lines in rounds.jsonl and events.jsonl.

Tensor files carry their own checksum; in text, a digit changed by a disk is still a valid digit. The seconds of a round
are left out, because they depend on when it was computed. Rounds without a line, as in earlier versions, are not
checked.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import Field

from glt.config import canonical_json
from glt.errors import StoreError
from glt.store import atomic_io, paths
from glt.store.atomic_io import SEE_DOCTOR, crc, whole_lines
from glt.store.records import Record, RoundRecord, round_of_event
from glt.store.tensors import read_about

SECONDS = b'"seconds":'
# A line begins with its own checksum, which is computed without these bytes.
HEAD = b'{"crc32":"00000000",'


class RoundChecksum(Record):
    """Checksums of a round; `start` and `end` are bytes of events.jsonl."""

    round: int = Field(ge=0)
    record: str
    events: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    init: str
    owner: str = ""
    crc32: str = ""


def _read(path: Path) -> list[RoundChecksum]:
    lines = whole_lines(path)[0]
    known = atomic_io.parse_lines(path, lines, RoundChecksum)
    for number, (line, found) in enumerate(zip(lines, known, strict=True)):
        if found.round != number or crc(b"{" + line[len(HEAD) :]) != found.crc32:
            raise StoreError(f"{path} is damaged in line {number + 1}: {SEE_DOCTOR}.")
    return known


_known = atomic_io.cached(_read)


def checksums_in(folder: Path) -> list[RoundChecksum]:
    """Return the checksums of a seed's rounds; raises StoreError for a damaged line."""
    return _known(folder / paths.CHECKSUMS)


def add_checksums(folder: Path, rounds: int) -> None:
    """Write missing checksums of the first `rounds` rounds, all of which must be readable."""
    known = list(checksums_in(folder))
    written = len(known)
    while len(known) < rounds:
        known.append(_computed(folder, len(known), known[-1].end if known else 0))
    lines = [
        canonical_json(atomic_io.signed(each.model_dump(mode="json", exclude={"crc32"}))) for each in known[written:]
    ]
    if lines:
        # In one write: readers see all checksums or, as in earlier versions, none.
        atomic_io.append_line(folder / paths.CHECKSUMS, "\n".join(lines), durable=True)


def cut_checksums(folder: Path, rounds: int) -> None:
    """Keep only the checksums of the first `rounds` rounds."""
    path = folder / paths.CHECKSUMS
    atomic_io.cut_file(path, sum(len(line) + 1 for line in whole_lines(path)[0][:rounds]))


def check_records(path: Path, known: Sequence[RoundChecksum], lines: Sequence[bytes]) -> None:
    """Raise StoreError if rounds.jsonl differs from what was written; read `known` first."""
    for number, (line, written) in enumerate(zip(lines, known, strict=False)):
        if not is_record(line, written):
            raise StoreError(f"{path} is damaged in line {number + 1} (wrong checksum): {SEE_DOCTOR}.")
    if len(lines) < len(known):
        raise StoreError(f"{path} is damaged (round {len(lines)} is missing): {SEE_DOCTOR}.")
    # The last round may lack a checksum while it is being finished: its masks are written first.
    for number in range(len(known), len(lines)) if known else ():
        if not paths.masks_file(path.parent, number).exists():
            raise StoreError(f"{path} is damaged in line {number + 1} (it has no checksum): {SEE_DOCTOR}.")
    if known and len(lines) > len(known) + 1:
        fault = f"round {len(known)} is missing"
        raise StoreError(f"{path.parent / paths.CHECKSUMS} is damaged ({fault}): {SEE_DOCTOR}.")


def check_owner(folder: Path) -> None:
    """Raise StoreError if a seed's folder holds rounds of another seed or run."""
    if owner := foreign_owner(folder):
        remedy = "move it out of the run, or back to where it was"
        raise StoreError(f"{folder} holds the rounds of {owner}: {remedy}.")


def foreign_owner(folder: Path) -> str:
    """Return the owner of the rounds in a seed's folder if it is another seed or run, else ""."""
    known = checksums_in(folder)
    return known[0].owner if known and known[0].owner not in ("", _owner_of(folder)) else ""


def _owner_of(folder: Path) -> str:
    place = folder.absolute()
    return f"{place.parent.name}/{place.name}"


def is_record(line: bytes, written: RoundChecksum) -> bool:
    """Say whether a line of rounds.jsonl is as written, seconds aside."""
    return crc(without_seconds(line)) == written.record


def check_events(path: Path, known: Sequence[RoundChecksum], lines: Sequence[bytes], offset: int) -> None:
    """Raise StoreError if whole rounds from byte `offset` on differ from those written."""
    content = b"\n".join([*lines, b""])
    for written in known:
        if written.start >= offset:
            check_epochs(path, written, content[written.start - offset : written.end - offset])


def check_epochs(path: Path, written: RoundChecksum, content: bytes) -> None:
    """Raise StoreError if this part of events.jsonl differs from a round's epochs as written."""
    if crc(content) != written.events:
        fault = f"the epochs of round {written.round} have changed"
        raise StoreError(f"{path} is damaged ({fault}): {SEE_DOCTOR}.")


def part_of(path: Path, start: int, end: int) -> bytes:
    """Return the bytes of a file from `start` to `end`; a missing file has none."""
    with atomic_io.reading(path, SEE_DOCTOR), (path if os.path.lexists(path) else Path(os.devnull)).open("rb") as file:
        file.seek(start)
        return file.read(end - start)


def without_seconds(line: bytes) -> bytes:
    """Return a line of rounds.jsonl without its seconds, which depend on when it was computed."""
    start = line.find(SECONDS)
    return line if start < 0 else line[:start] + line[line.find(b",", start) + 1 :]


def _computed(folder: Path, number: int, start: int) -> RoundChecksum:
    path = folder / paths.EVENTS
    before, sizes = event_sizes(path, number, start)
    end = start + before + sum(sizes)
    init = ""
    if number == 0:
        with suppress(StoreError, KeyError):
            init = str(read_about(folder / paths.INIT, SEE_DOCTOR)["sha256"])
    return RoundChecksum(
        round=number,
        record=crc(without_seconds(whole_lines(folder / paths.ROUNDS)[0][number])),
        events=crc(part_of(path, start, end)),
        start=start,
        end=end,
        init=init,
        owner=_owner_of(folder) if number == 0 else "",
    )


def event_sizes(path: Path, round: int, start: int = 0) -> tuple[int, list[int]]:
    """Return the bytes of earlier rounds, and of each whole line of `round`."""
    before, sizes = 0, list[int]()
    for line in whole_lines(path, start)[0]:
        number = round_of_event(line)
        if number is None or number > round or (number < round and sizes):
            break
        if number < round:
            before += len(line) + 1
        else:
            sizes.append(len(line) + 1)
    return before, sizes


def read_rounds(path: Path) -> list[RoundRecord]:
    """Return the records of all whole rounds; raises StoreError for a damaged or misplaced line."""
    known = checksums_in(path.parent)
    check_owner(path.parent)
    lines = whole_lines(path)[0]
    check_records(path, known, lines)
    records = atomic_io.parse_lines(path, lines, RoundRecord)
    for number, record in enumerate(records):
        if record.round != number:
            raise StoreError(f"{path} has round {record.round} in the place of round {number}: {SEE_DOCTOR}.")
        if not record.is_bounded:
            raise StoreError(f"{path} is damaged in line {number + 1} (a number is out of range): {SEE_DOCTOR}.")
    return records


def _count(path: Path) -> int:
    # An unreadable file counts as empty; reading its rounds raises the error.
    try:
        return len(whole_lines(path)[0])
    except StoreError:
        return 0


count_lines = atomic_io.cached(_count)
last_round = atomic_io.cached(lambda path: next(reversed(read_rounds(path)), None))
