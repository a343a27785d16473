"""JSON documents and JSON lines of a run folder: read up to the last newline, damage named by file and line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from glt import json_text
from glt.commands import command
from glt.errors import StoreError
from glt.store.safe_files import check_regular, reading

SEE_DOCTOR = f"run `{command('doctor')}`, which says what can be mended"
# A document holds settings or a state, lines are of a million epochs at most.
MOST_BYTES, MOST_BYTES_OF_LINES = 16 << 20, 1 << 30

Row = TypeVar("Row", bound=BaseModel)


def read_json(path: Path, remedy: str) -> Any:
    """Return the JSON document in `path`; raises StoreError when it is missing or damaged."""
    with reading(path, remedy):
        check_regular(path, MOST_BYTES)
        content = path.read_bytes()
    try:
        return json_text.parsed(content)
    except ValueError:
        raise StoreError(f"{path} is damaged (no valid JSON): {remedy}.") from None


def whole_lines(path: Path, offset: int = 0) -> tuple[list[bytes], int]:
    """Return the lines of `path` from byte `offset` to its last newline, and the offset after that newline.

    A missing file has no lines. When `offset` is no longer the start of a line, because a resume cut the file,
    reading starts at the beginning.
    """
    # A symbolic link that leads nowhere is no missing file, but one that cannot be read.
    if not os.path.lexists(path):
        return [], 0
    with reading(path, SEE_DOCTOR):
        check_regular(path, MOST_BYTES_OF_LINES)
    with reading(path, SEE_DOCTOR), path.open("rb") as file:
        start = file.seek(_line_start(file, offset))
        content = file.read()
    lines = content.split(b"\n")[:-1]
    return lines, start + sum(map(len, lines)) + len(lines)


def parse_lines(path: Path, lines: list[bytes], row: type[Row], first: int = 1) -> list[Row]:
    """Return the records of `lines`; raises StoreError naming the first damaged line (counted from `first`)."""
    records: list[Row] = []
    try:
        records.extend(row.model_validate_json(line) for line in lines)
    except ValidationError:
        raise StoreError(f"{path} is damaged in line {first + len(records)}: {SEE_DOCTOR}.") from None
    return records


def _line_start(file: BinaryIO, offset: int) -> int:
    if offset <= 0 or offset > file.seek(0, 2):
        return 0
    file.seek(offset - 1)
    return offset if file.read(1) == b"\n" else 0
