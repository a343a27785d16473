"""The table of a seed's rounds: a line each, in order."""

from __future__ import annotations

from pathlib import Path

from glt.errors import StoreError
from glt.store.json_files import RESUME, parse_lines, whole_lines
from glt.store.records import RoundRecord
from glt.store.remembered import remembered


def read_rounds(path: Path) -> list[RoundRecord]:
    """Return the records of all whole rounds; raises StoreError for a damaged line or one out of order."""
    records = parse_lines(path, whole_lines(path)[0], RoundRecord)
    for number, record in enumerate(records):
        if record.round != number:
            raise StoreError(f"{path} has round {record.round} where round {number} belongs: {RESUME}.")
        if not record.is_bounded:
            raise StoreError(f"{path} is damaged in line {number + 1} (a number beyond all bounds): {RESUME}.")
    return records


count_lines = remembered(lambda path: len(whole_lines(path)[0]))
last_round = remembered(lambda path: next(reversed(read_rounds(path)), None))
