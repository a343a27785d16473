"""Recovery of a seed: its last whole round, the checkpoint after it, damaged files moved aside.

A checkpoint is one file of arrays and JSON. If it is damaged, belongs to another round, run or seed, or counts epochs
that events.jsonl lacks, it is not used and the round starts again. Damaged files, and finished rounds after damage, are
moved aside; only files of no finished round are removed.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray
from pydantic import ValidationError

from glt.errors import StoreError
from glt.store import paths
from glt.store.atomic_io import (
    SEE_DOCTOR,
    append_line,
    cut_file,
    flush_file,
    make_folder,
    refuse_link,
    whole_lines,
    writing,
)
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
from glt.store.records import RoundRecord, round_of_event
from glt.store.tensors import read_masks, read_tensors, read_weights, write_tensors


class Aside:
    """A folder below `root` that keeps what is moved away, in its relative place.

    It is made at the first move and named after that moment. `root` is a run or a store.
    """

    def __init__(self, root: Path, name: str = paths.ASIDE) -> None:
        self._root = root
        self._parent = root / name
        self.folder: Path | None = None

    def move(self, path: Path) -> Path:
        """Move a file, folder or link (not its target) and return its new place; a missing one is fine.

        Raises StoreError if a folder above it is a symbolic link, because the target is not of the run.
        """
        place = self._place(path)
        with writing(path), suppress(FileNotFoundError):
            path.rename(place)
        return place

    def copy(self, path: Path) -> Path | None:
        """Copy a file that is about to be cut; None if it cannot be read."""
        if not is_usable(path):
            return None
        place = self._place(path)
        with writing(place):
            shutil.copy2(path, place)
        return place

    def _place(self, path: Path) -> Path:
        refuse_link(*(self._root / folder for folder in path.relative_to(self._root).parents if folder != Path()))
        if self.folder is None:
            self.folder = _new_folder(self._parent)
        place = self.folder / path.relative_to(self._root)
        make_folder(place.parent)
        number = 1
        while os.path.lexists(place):
            number += 1
            place = place.with_name(f"{path.name}.{number}")
        return place


def is_usable(path: Path) -> bool:
    """Say whether a path, or the target of a link, is a readable regular file."""
    try:
        # Opening a pipe without a writer would block.
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def _new_folder(parent: Path) -> Path:
    """Make a folder named after this moment."""
    if parent.is_symlink():
        raise StoreError(f"{parent} is a symbolic link, and no files are moved through links: remove the link.")
    name, number = time.strftime("%Y%m%d-%H%M%S"), 1
    make_folder(parent)
    while True:
        folder = parent / (name if number == 1 else f"{name}.{number}")
        with writing(folder):
            try:
                folder.mkdir()
            except FileExistsError:
                number += 1
            else:
                return folder


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """State within a round: epochs so far (a line of events.jsonl each), seconds, arrays, state."""

    round: int
    epochs: int
    seconds: float
    arrays: Mapping[str, NDArray[Any]]
    state: Mapping[str, Any]


def write_checkpoint(folder: Path, owner: str, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint of a seed; `owner` names the run and seed that may use it."""
    about = {name: getattr(checkpoint, name) for name in ("round", "epochs", "seconds", "state")}
    flush_file(folder / paths.EVENTS)
    write_tensors(folder / paths.CHECKPOINT, checkpoint.arrays, {**about, "owner": owner})


def read_checkpoint(folder: Path, owner: str, round: int) -> Checkpoint | None:
    """Return the checkpoint of `round`, None without one; raises StoreError for an unusable one."""
    path = folder / paths.CHECKPOINT
    if not path.exists():
        return None
    arrays, about = read_tensors(path, SEE_DOCTOR)
    if about.get("owner") != owner:
        raise StoreError(f"{path} belongs to another run or seed.")
    if about.get("round") != round:
        raise StoreError(f"{path} belongs to round {about.get('round')}, not to round {round}.")
    epochs, seconds, state = (about.get(name) for name in ("epochs", "seconds", "state"))
    if type(epochs) is not int or epochs < 0 or not isinstance(seconds, int | float) or not isinstance(state, dict):
        raise StoreError(f"{path} is damaged (it does not say how far the round is).")
    if len(event_sizes(folder / paths.EVENTS, round)[1]) < epochs:
        raise StoreError(f"{path} counts {epochs} epochs, more than events.jsonl holds.")
    return Checkpoint(round, epochs, float(seconds), arrays, state)


def usable_checkpoint(folder: Path, owner: str, round: int) -> Checkpoint | None:
    """Return the checkpoint of `round`; removes an unusable one, notes that in the log and returns None."""
    try:
        return read_checkpoint(folder, owner, round)
    except StoreError as error:
        drop_checkpoint(folder, str(error))
        return None


def drop_checkpoint(folder: Path, why: str = "") -> None:
    """Remove the checkpoint; write the reason `why`, if any, into the log."""
    path = folder / paths.CHECKPOINT
    if why:
        append_line(folder / paths.LOG, f"The checkpoint is not used and its round starts again: {why}")
    with writing(path):
        path.unlink(missing_ok=True)


TEXTS = (paths.ROUNDS, paths.EVENTS, paths.CHECKSUMS)


def drop_after_last_whole_round(folder: Path, owner: str, aside: Aside) -> int:
    """Cut the folder back to its last whole round and a usable checkpoint; return the next round.

    A round is whole if its line, its epochs and its two tensor files can be read and match their checksums. Lines go
    first, so that a kill here does no harm. `owner` says whose checkpoint may be used. Files that cannot be opened must
    have been moved aside before.
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
    """Return the files of a seed that cannot be opened, and damaged checksums."""
    files = sorted(path for path in folder.iterdir() if paths.is_of_seed(path.name))
    bad = [path for path in files if not is_usable(path)]
    checksums = folder / paths.CHECKSUMS
    try:
        checksums_in(folder)
    except StoreError:
        bad += [] if checksums in bad else [checksums]
    return bad


def drop_events(folder: Path, round: int, epochs: int = 0) -> None:
    """Cut the events back to rounds before `round` and `epochs` epochs of it."""
    before, sizes = event_sizes(folder / paths.EVENTS, round)
    cut_file(folder / paths.EVENTS, before + sum(sizes[:epochs]))


class Fault(NamedTuple):
    """A file that differs from what was written; `round` is the first round affected."""

    round: int
    path: Path
    wrong: str


def round_faults(folder: Path) -> list[Fault]:
    """Return every damaged or missing file of finished rounds, by checksum. Opens every tensor file."""
    lines, known = table_lines(folder), checksums_or_none(folder)
    faults = [*_table_faults(folder / paths.ROUNDS, lines, known), *_event_faults(folder / paths.EVENTS, known)]
    finished = finished_rounds(folder)
    tensors = (fault for number in range(finished) for fault in _tensor_faults(folder, number))
    return [*(fault for fault in faults if fault.round < finished), *tensors]


def sound_rounds(folder: Path) -> int:
    """Return how many rounds, from round 0 on, can be read; a resume continues after them."""
    return min((fault.round for fault in round_faults(folder)), default=finished_rounds(folder))


def finished_rounds(folder: Path) -> int:
    """Return how many rounds were finished, even if they are damaged now."""
    return max(len(table_lines(folder)), len(checksums_or_none(folder)))


def table_lines(folder: Path) -> list[bytes]:
    """Return the lines of rounds.jsonl, none where it cannot be read."""
    try:
        return whole_lines(folder / paths.ROUNDS)[0]
    except StoreError:
        return []


def checksums_or_none(folder: Path) -> list[RoundChecksum]:
    """Return the checksums of a seed's rounds; none if damaged, because they can be recomputed."""
    try:
        return checksums_in(folder)
    except StoreError:
        return []


def name_rounds(first: int, finished: int) -> str:
    """Name the rounds from `first` up to, excluding, `finished`.

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
    """Return the round of the first unreadable line, None if all can be read."""
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
    """Say whether an unreadable file is damaged or missing."""
    return "is damaged" if path.exists() else "is missing"


def _is_record(line: bytes, number: int, known: Sequence[RoundChecksum]) -> bool:
    """Say whether a line of rounds.jsonl is the record of round `number`, as written."""
    try:
        record = RoundRecord.model_validate_json(line)
    except ValidationError:
        return False
    return record.round == number and (number >= len(known) or is_record(line, known[number]))
