"""Recovery of a seed: its last whole round, the checkpoint after it, damaged files moved aside.

A checkpoint is one file of arrays and JSON. If it is damaged, belongs to another round, run or seed, or counts epochs
that events.jsonl lacks, it is not used and the round starts again. Damaged files, and finished rounds after damage, are
moved aside; only files of no finished round are removed.
"""

from __future__ import annotations

import itertools
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
from glt.store import atomic_io, checksums, paths
from glt.store.atomic_io import SEE_DOCTOR, whole_lines, writing
from glt.store.checksums import RoundChecksum, checksums_in
from glt.store.records import RoundRecord, round_of_event
from glt.store.tensors import read_masks, read_tensors, read_weights, write_tensors


class Aside:
    """A folder that keeps what is moved away, made at the first move."""

    def __init__(self, root: Path, name: str = paths.ASIDE) -> None:
        self._root = root
        self._parent = root / name
        self.folder: Path | None = None

    def move(self, path: Path) -> Path:
        """Move a file, folder or link (not its target) and return its new place."""
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
        atomic_io.refuse_link(
            *(self._root / folder for folder in path.relative_to(self._root).parents if folder != Path())
        )
        if self.folder is None:
            if self._parent.is_symlink():
                raise StoreError(
                    f"{self._parent} is a symbolic link, and no files are moved through links: remove the link."
                )
            atomic_io.make_folder(self._parent)
            self.folder = _free(self._parent / time.strftime("%Y%m%d-%H%M%S"))
            atomic_io.make_folder(self.folder)
        place = self.folder / path.relative_to(self._root)
        atomic_io.make_folder(place.parent)
        return _free(place)


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


def _free(path: Path) -> Path:
    """Return a path that nothing has yet: this one, or NAME.2, NAME.3 and so on."""
    names = (path.with_name(f"{path.name}.{number}") for number in itertools.count(2))
    return next(each for each in itertools.chain([path], names) if not os.path.lexists(each))


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
    atomic_io.flush_file(folder / paths.EVENTS)
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
    if len(checksums.event_sizes(folder / paths.EVENTS, round)[1]) < epochs:
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
        atomic_io.append_line(folder / paths.LOG, f"The checkpoint is not used and its round starts again: {why}")
    with writing(path):
        path.unlink(missing_ok=True)


TEXTS = (paths.ROUNDS, paths.EVENTS, paths.CHECKSUMS)


def drop_after_last_whole_round(folder: Path, owner: str, aside: Aside) -> int:
    """Cut the folder back to its last whole round and a usable checkpoint; return the next round.

    A round is whole if its line, its epochs and its two tensor files can be read and match their checksums. Lines go
    first, so that a kill here does no harm. `owner` says whose checkpoint may be used. Files that cannot be opened must
    have been moved aside before.
    """
    checksums.check_owner(folder)
    lines = table_lines(folder)
    written, following, finished = len(lines), sound_rounds(folder), finished_rounds(folder)
    if following < finished:
        for name in TEXTS:
            aside.copy(folder / name)
    checksums.cut_checksums(folder, following)
    atomic_io.cut_file(folder / paths.ROUNDS, sum(len(line) + 1 for line in lines[:following]))
    for file in sorted(folder.iterdir()):
        number = paths.round_of(file.name)
        if number is not None and number >= following and (number < finished or number > written):
            aside.move(file)
        elif paths.is_unfinished_of_seed(file.name) or (number is not None and number >= following):
            with writing(file):
                file.unlink()
    checkpoint = usable_checkpoint(folder, owner, following)
    drop_events(folder, following, checkpoint.epochs if checkpoint else 0)
    checksums.add_checksums(folder, following)
    return following


def unusable(folder: Path) -> list[Path]:
    """Return the files of a seed that cannot be opened, and damaged checksums."""
    files = sorted(path for path in folder.iterdir() if paths.is_of_seed(path.name))
    bad = [path for path in files if not is_usable(path)]
    try:
        checksums_in(folder)
    except StoreError:
        bad.append(folder / paths.CHECKSUMS)
    return list(dict.fromkeys(bad))


def drop_events(folder: Path, round: int, epochs: int = 0) -> None:
    """Cut the events back to rounds before `round` and `epochs` epochs of it."""
    before, sizes = checksums.event_sizes(folder / paths.EVENTS, round)
    atomic_io.cut_file(folder / paths.EVENTS, before + sum(sizes[:epochs]))


class Fault(NamedTuple):
    """A file that differs from what was written; `round` is the first round affected."""

    round: int
    path: Path
    wrong: str


def round_faults(folder: Path) -> list[Fault]:
    """Return every damaged or missing file of finished rounds, by checksum. Opens every tensor file."""
    known, finished = checksums_or_none(folder), finished_rounds(folder)
    faults = [*_table_faults(folder / paths.ROUNDS, known), *_event_faults(folder / paths.EVENTS, known)]
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
    """Name the rounds from `first` up to, excluding, `finished`."""
    return f"round {first}" if first == finished - 1 else f"rounds {first} to {finished - 1}"


def _table_faults(path: Path, known: Sequence[RoundChecksum]) -> Iterator[Fault]:
    lines = table_lines(path.parent)
    for number, line in enumerate(lines):
        try:
            is_whole = RoundRecord.model_validate_json(line).round == number
        except ValidationError:
            is_whole = False
        if not is_whole or (number < len(known) and not checksums.is_record(line, known[number])):
            yield Fault(number, path, f"is damaged in line {number + 1}")
            return
    if len(lines) < len(known):
        wrong = f"lacks {name_rounds(len(lines), len(known))}" if os.path.lexists(path) else "is missing"
        yield Fault(len(lines), path, wrong)


def _event_faults(path: Path, known: Sequence[RoundChecksum]) -> Iterator[Fault]:
    first: int | None = None
    try:
        if known:
            parts = ((each, checksums.part_of(path, each.start, each.end)) for each in known)
            first = next((each.round for each, part in parts if atomic_io.crc(part) != each.events), None)
        else:
            rounds = [round_of_event(line) for line in whole_lines(path)[0]]
            # A line that cannot be read belongs to the round of the line before it.
            damaged = rounds.index(None) if None in rounds else None
            first = damaged and (rounds[damaged - 1] or 0)
    except StoreError:
        first = 0
    if first is not None:
        wrong = f"is damaged in the epochs of round {first}" if os.path.lexists(path) else "is missing"
        yield Fault(first, path, wrong)


def _tensor_faults(folder: Path, number: int) -> Iterator[Fault]:
    path, found = paths.masks_file(folder, number), None
    try:
        found = read_masks(path)
    except StoreError:
        yield Fault(number, path, damaged_or_missing(path))
    path = paths.weights_file(folder, number)
    try:
        if found is None:
            read_tensors(path, SEE_DOCTOR)
        else:
            read_weights(path, found)
    except StoreError:
        yield Fault(number, path, damaged_or_missing(path))


def damaged_or_missing(path: Path) -> str:
    """Say whether an unreadable file is damaged or missing."""
    return "is damaged" if path.exists() else "is missing"
