"""Finding the last whole round of a seed folder and clearing away what a killed worker left after it.

Of the round that was at work stays what its checkpoint can go on from. What is damaged, and finished rounds that follow
something damaged, are moved aside: only what belongs to no finished round is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from glt.errors import StoreError
from glt.store import paths
from glt.store.checkpoint import event_sizes, usable_checkpoint
from glt.store.checksums import (
    RoundChecksum,
    add_checksums,
    check_owner,
    checksums_in,
    cut_checksums,
    holds_epochs,
    is_record,
)
from glt.store.json_files import whole_lines
from glt.store.records import RoundRecord, round_of_event
from glt.store.round_files import read_masks, read_weights
from glt.store.safe_files import cut_file, writing
from glt.store.setting_aside import Aside, is_usable

TEXTS = (paths.ROUNDS, paths.EVENTS, paths.CHECKSUMS)


def drop_after_last_whole_round(folder: Path, owner: str, aside: Aside) -> int:
    """Cut the folder back to its last whole round and a usable checkpoint, and return the number of the next round.

    A round counts as whole when its line, its epochs and its two tensor files can be read and fit their checksums; the
    lines go first, so that being killed in here does no harm. `owner` says whose checkpoint can be used. What cannot be
    opened must have been moved aside before.
    """
    check_owner(folder)
    following, size = _sound_rounds(folder)
    written = len(whole_lines(folder / paths.ROUNDS)[0])
    finished = max(written, len(_checksums(folder)))
    if following < finished:
        _keep_copies(folder, aside)
    cut_checksums(folder, following)
    cut_file(folder / paths.ROUNDS, size)
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


def move_unusable(folder: Path, aside: Aside) -> list[Path]:
    """Move aside what is no file that can be read, and checksums that say nothing; return what was moved."""
    bad = unusable(folder)
    for path in bad:
        aside.move(path)
    return bad


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
    path = folder / paths.EVENTS
    cut_file(path, _events_before(path, round) + sum(event_sizes(path, round)[:epochs]))


def sound_rounds(folder: Path) -> int:
    """Return how many rounds, from round 0 on, can be read; a resume goes on after them."""
    try:
        return _sound_rounds(folder)[0]
    except StoreError:
        return 0


def _checksums(folder: Path) -> list[RoundChecksum]:
    """Return the checksums of a seed's rounds; none where they are damaged, as they can be made again."""
    try:
        return checksums_in(folder)
    except StoreError:
        return []


def _sound_rounds(folder: Path) -> tuple[int, int]:
    """Return their number and the bytes that their lines take."""
    known = _checksums(folder)
    lines = whole_lines(folder / paths.ROUNDS)[0][: rounds_with_sound_events(folder, known)]
    number = size = 0
    for line in lines:
        written = known[number] if number < len(known) else None
        if not _is_whole(folder, line, number, written):
            break
        number += 1
        size += len(line) + 1
    return number, size


def rounds_with_sound_events(folder: Path, known: Sequence[RoundChecksum]) -> int | None:
    """Return how many rounds, from round 0 on, have the epochs they were written with; None when all have."""
    path = folder / paths.EVENTS
    if not known:
        return _round_of_first_damage(whole_lines(path)[0])
    return next((written.round for written in known if not holds_epochs(path, written)), None)


def _round_of_first_damage(lines: Sequence[bytes]) -> int | None:
    """Return the round that the first line which cannot be read may belong to, None when all can be read."""
    latest = 0
    for line in lines:
        number = round_of_event(line)
        if number is None:
            return latest
        latest = number
    return None


def _is_whole(folder: Path, line: bytes, number: int, written: RoundChecksum | None) -> bool:
    if written is not None and not is_record(line, written):
        return False
    try:
        record = RoundRecord.model_validate_json(line)
        masks = read_masks(paths.masks_file(folder, number))
        read_weights(paths.weights_file(folder, number), masks)
    except (ValidationError, StoreError):
        return False
    return record.round == number


def _keep_copies(folder: Path, aside: Aside) -> None:
    """Keep what is cut of the tables that all rounds share."""
    for name in TEXTS:
        aside.copy(folder / name)


def _events_before(path: Path, following: int) -> int:
    size = 0
    for line in whole_lines(path)[0]:
        number = round_of_event(line)
        if number is None or number >= following:
            break
        size += len(line) + 1
    return size
