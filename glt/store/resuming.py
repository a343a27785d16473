"""Finding the last whole round of a seed folder and clearing away what a killed worker left after it.

Of the round that was at work stays what its checkpoint can go on from. What is damaged, and finished rounds that follow
something damaged, are moved aside: only what belongs to no finished round is removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from glt.errors import StoreError
from glt.store import paths
from glt.store.checkpoint import usable_checkpoint
from glt.store.checksums import (
    RoundChecksum,
    add_checksums,
    check_owner,
    checksums_in,
    cut_checksums,
    event_sizes,
    holds_epochs,
    is_record,
)
from glt.store.json_files import SEE_DOCTOR, whole_lines
from glt.store.records import RoundRecord, round_of_event
from glt.store.round_files import read_masks, read_weights
from glt.store.safe_files import cut_file, writing
from glt.store.setting_aside import Aside, is_usable
from glt.store.tensors import read_tensors

TEXTS = (paths.ROUNDS, paths.EVENTS, paths.CHECKSUMS)


def drop_after_last_whole_round(folder: Path, owner: str, aside: Aside) -> int:
    """Cut the folder back to its last whole round and a usable checkpoint, and return the number of the next round.

    A round counts as whole when its line, its epochs and its two tensor files can be read and fit their checksums; the
    lines go first, so that being killed in here does no harm. `owner` says whose checkpoint can be used. What cannot be
    opened must have been moved aside before.
    """
    check_owner(folder)
    lines = table_lines(folder)
    written, following, finished = len(lines), sound_rounds(folder), finished_rounds(folder)
    if following < finished:
        for name in TEXTS:
            aside.copy(folder / name)
    cut_checksums(folder, following)
    cut_file(folder / paths.ROUNDS, sum(len(line) + 1 for line in lines[:following]))
    for file in sorted(folder.iterdir()):
        number = paths.round_of(file.name)
        if number is not None and number >= following and (number < finished or number > written):
            aside.move(file)
        elif paths.is_unfinished_of_seed(file.name) or (number is not None and number >= following):
            with writing(file):
                file.unlink()
    checkpoint = usable_checkpoint(folder, owner, following)
    drop_events(folder, following, checkpoint.epochs if checkpoint else 0)
    add_checksums(folder, following)
    return following


def unusable(folder: Path) -> list[Path]:
    """Return what has the name of one of a seed's files and cannot be opened, and checksums that say nothing."""
    files = sorted(path for path in folder.iterdir() if paths.is_of_seed(path.name))
    bad = [path for path in files if not is_usable(path)]
    checksums = folder / paths.CHECKSUMS
    try:
        checksums_in(folder)
    except StoreError:
        bad += [] if checksums in bad else [checksums]
    return bad


def drop_events(folder: Path, round: int, epochs: int = 0) -> None:
    """Cut the events back to those before `round` and that many of the round itself."""
    before, sizes = event_sizes(folder / paths.EVENTS, round)
    cut_file(folder / paths.EVENTS, before + sum(sizes[:epochs]))


class Fault(NamedTuple):
    """A file that is not as it was written when a round was finished; `round` is the first round that it damages."""

    round: int
    path: Path
    wrong: str


def round_faults(folder: Path) -> list[Fault]:
    """Return every damaged or missing file of the finished rounds, compared with the checksums. Opens every tensor."""
    lines, known = table_lines(folder), checksums_or_none(folder)
    faults = [*_table_faults(folder / paths.ROUNDS, lines, known), *_event_faults(folder / paths.EVENTS, known)]
    finished = finished_rounds(folder)
    tensors = (fault for number in range(finished) for fault in _tensor_faults(folder, number))
    return [*(fault for fault in faults if fault.round < finished), *tensors]


def sound_rounds(folder: Path) -> int:
    """Return how many rounds, from round 0 on, can be read; a resume goes on after them."""
    return min((fault.round for fault in round_faults(folder)), default=finished_rounds(folder))


def finished_rounds(folder: Path) -> int:
    """Return how many rounds were finished, whatever became of them."""
    return max(len(table_lines(folder)), len(checksums_or_none(folder)))


def table_lines(folder: Path) -> list[bytes]:
    """Return the lines of rounds.jsonl, none where it cannot be read."""
    try:
        return whole_lines(folder / paths.ROUNDS)[0]
    except StoreError:
        return []


def checksums_or_none(folder: Path) -> list[RoundChecksum]:
    """Return the checksums of a seed's rounds; none where they are damaged, as they can be made again."""
    try:
        return checksums_in(folder)
    except StoreError:
        return []


def name_rounds(first: int, finished: int) -> str:
    """Name the rounds from `first` up to, but without, `finished`.

    >>> name_rounds(2, 3), name_rounds(2, 5)
    ('round 2', 'rounds 2 to 4')
    """
    return f"round {first}" if first == finished - 1 else f"rounds {first} to {finished - 1}"


def _table_faults(path: Path, lines: Sequence[bytes], known: Sequence[RoundChecksum]) -> Iterator[Fault]:
    bad = next((number for number, line in enumerate(lines) if not _is_record(line, number, known)), None)
    if bad is not None:
        yield Fault(bad, path, f"is damaged in line {bad + 1}")
    elif len(lines) < len(known):
        wrong = f"lacks {name_rounds(len(lines), len(known))}" if os.path.lexists(path) else "is missing"
        yield Fault(len(lines), path, wrong)


def _event_faults(path: Path, known: Sequence[RoundChecksum]) -> Iterator[Fault]:
    try:
        if known:
            first = next((written.round for written in known if not holds_epochs(path, written)), None)
        else:
            first = _round_of_first_damage(whole_lines(path)[0])
    except StoreError:
        first = 0
    if first is not None:
        wrong = f"is damaged in the epochs of round {first}" if os.path.lexists(path) else "is missing"
        yield Fault(first, path, wrong)


def _round_of_first_damage(lines: Sequence[bytes]) -> int | None:
    """Return the round that the first line which cannot be read may belong to, None when all can be read."""
    latest = 0
    for line in lines:
        number = round_of_event(line)
        if number is None:
            return latest
        latest = number
    return None


def _tensor_faults(folder: Path, number: int) -> Iterator[Fault]:
    masks, weights = paths.masks_file(folder, number), paths.weights_file(folder, number)
    try:
        found = read_masks(masks)
    except StoreError:
        found = None
        yield Fault(number, masks, damaged_or_missing(masks))
    try:
        if found is None:
            read_tensors(weights, SEE_DOCTOR)
        else:
            read_weights(weights, found)
    except StoreError:
        yield Fault(number, weights, damaged_or_missing(weights))


def damaged_or_missing(path: Path) -> str:
    """Say what is wrong with a file that cannot be read."""
    return "is damaged" if path.exists() else "is missing"


def _is_record(line: bytes, number: int, known: Sequence[RoundChecksum]) -> bool:
    """Say whether a line of rounds.jsonl is the record of round `number`, as it was written."""
    try:
        record = RoundRecord.model_validate_json(line)
    except ValidationError:
        return False
    return record.round == number and (number >= len(known) or is_record(line, known[number]))
