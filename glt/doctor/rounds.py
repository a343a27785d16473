"""Looking at the rounds of one seed: every line, epoch and tensor against its checksum, and what no round owns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from glt.doctor.finding import Finding, moved
from glt.errors import StoreError
from glt.store import RoundRecord, SeedRun, paths
from glt.store.checksums import RoundChecksum, checksums_in, is_record
from glt.store.json_files import SEE_DOCTOR, whole_lines
from glt.store.resuming import rounds_with_sound_events
from glt.store.round_files import read_masks, read_weights
from glt.store.setting_aside import is_usable
from glt.store.tensors import read_tensors

Fault = tuple[Path, str]


def round_findings(seed: SeedRun) -> Iterator[Finding]:
    """Find damaged rounds, a checkpoint that is of no use and files that belong to no round."""
    yield from _damaged_rounds(seed)
    yield from _at_work(seed)


def _damaged_rounds(seed: SeedRun) -> Iterator[Finding]:
    lines, known = _lines(seed.path / paths.ROUNDS), checksums_of(seed.path)
    finished = _finished(seed.path)
    sound = seed.sound_rounds()
    one = sound == finished - 1
    aside = f"{rounds_from(sound, finished)} {'is' if one else 'are'} set aside"
    then = f"{aside}, and resuming computes again what is missing"
    for path, wrong in _faults(seed.path, lines, known) if sound < finished else ():
        yield Finding(path, wrong, then, seed.drop_unfinished)


def _at_work(seed: SeedRun) -> Iterator[Finding]:
    """Find what the round at work left that no resume can go on from."""
    again, finished = "resuming computes the round again", _finished(seed.path)
    if fault := seed.checkpoint_fault():
        yield moved(seed.path / paths.CHECKPOINT, f"is of no use ({fault})", again)
    for path in sorted(seed.path.iterdir()):
        number = paths.round_of(path.name)
        if number is not None and number >= finished and is_usable(path):
            yield moved(path, "belongs to no finished round", again)


def _finished(folder: Path) -> int:
    """Return how many rounds were finished, whatever became of them."""
    return max(len(_lines(folder / paths.ROUNDS)), len(checksums_of(folder)))


def rounds_from(first: int, finished: int) -> str:
    """Name the rounds from one on.

    >>> rounds_from(2, 3), rounds_from(2, 5)
    ('round 2', 'rounds 2 to 4')
    """
    return f"round {first}" if first == finished - 1 else f"rounds {first} to {finished - 1}"


def _faults(folder: Path, lines: Sequence[bytes], known: Sequence[RoundChecksum]) -> Iterator[Fault]:
    """Return every file of a finished round that is not as it was written, and what is wrong with it."""
    table, finished = folder / paths.ROUNDS, max(len(lines), len(known))
    if is_usable(table):
        bad = [number for number, line in enumerate(lines) if not _is_record(line, number, known)]
        if bad:
            yield table, f"is damaged in line {bad[0] + 1}"
        elif len(lines) < finished:
            yield table, f"lacks {rounds_from(len(lines), finished)}"
    elif known:
        yield table, "is missing"
    events = folder / paths.EVENTS
    first = rounds_with_sound_events(folder, known) if is_usable(events) or not os.path.lexists(events) else None
    if first is not None and first < finished:
        yield events, f"is damaged in the epochs of round {first}" if events.exists() else "is missing"
    for number in range(finished):
        yield from _tensor_faults(folder, number)


def _is_record(line: bytes, number: int, known: Sequence[RoundChecksum]) -> bool:
    try:
        record = RoundRecord.model_validate_json(line)
    except ValidationError:
        return False
    return record.round == number and (number >= len(known) or is_record(line, known[number]))


def _tensor_faults(folder: Path, number: int) -> Iterator[Fault]:
    masks, weights = paths.masks_file(folder, number), paths.weights_file(folder, number)
    try:
        found = read_masks(masks)
    except StoreError:
        found = None
        yield masks, _wrong(masks)
    try:
        if found is None:
            read_tensors(weights, SEE_DOCTOR)
        else:
            read_weights(weights, found)
    except StoreError:
        yield weights, _wrong(weights)


def _wrong(path: Path) -> str:
    return "is damaged" if path.exists() else "is missing"


def _lines(path: Path) -> list[bytes]:
    try:
        return whole_lines(path)[0]
    except StoreError:
        return []


def checksums_of(folder: Path) -> list[RoundChecksum]:
    """Return the checksums of a seed's rounds, none where they cannot be read."""
    try:
        return checksums_in(folder)
    except StoreError:
        return []
