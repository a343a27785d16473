"""The table of a seed's rounds: a line each, in order."""

from __future__ import annotations

from pathlib import Path

from glt.errors import StoreError
from glt.store.checksums import check_owner, check_records, checksums_in
from glt.store.json_files import SEE_DOCTOR, parse_lines, whole_lines
from glt.store.records import RoundRecord
from glt.store.remembered import remembered


def read_rounds(path: Path) -> list[RoundRecord]:
    """Return the records of all whole rounds; raises StoreError for a damaged line or one out of order."""
    known = checksums_in(path.parent)
    check_owner(path.parent)
    lines = whole_lines(path)[0]
    check_records(path, known, lines)
    records = parse_lines(path, lines, RoundRecord)
    for number, record in enumerate(records):
        if record.round != number:
            raise StoreError(f"{path} has round {record.round} where round {number} belongs: {SEE_DOCTOR}.")
        if not record.is_bounded:
            raise StoreError(f"{path} is damaged in line {number + 1} (a number beyond all bounds): {SEE_DOCTOR}.")
    return records


def _count(path: Path) -> int:
    try:
        return len(whole_lines(path)[0])
    except StoreError:
        return 0


# Of a file that cannot be read none: who reads the rounds is told.
count_lines = remembered(_count)
last_round = remembered(lambda path: next(reversed(read_rounds(path)), None))
