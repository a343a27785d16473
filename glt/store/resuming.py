"""Finding the last whole round of a seed folder and clearing away what a killed worker left after it.

Of the round that was at work stays what its checkpoint can go on from.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from glt.errors import StoreError
from glt.store import paths
from glt.store.checkpoint import event_sizes, round_of_event, usable_checkpoint
from glt.store.json_files import whole_lines
from glt.store.records import RoundRecord
from glt.store.round_files import read_masks, read_weights
from glt.store.safe_files import cut_file, writing


def drop_after_last_whole_round(folder: Path, owner: str) -> int:
    """Cut the folder back to its last whole round and a usable checkpoint, and return the number of the next round.

    A round counts as whole when its line and its two tensor files can be read; the lines go first, so that
    being killed in here does no harm. `owner` says whose checkpoint can be used.
    """
    following, size = _sound_rounds(folder)
    cut_file(folder / paths.ROUNDS, size)
    for file in sorted(folder.iterdir()):
        number = paths.round_of(file.name)
        if file.name.endswith(paths.UNFINISHED_WRITE) or (number is not None and number >= following):
            with writing(file):
                file.unlink()
    checkpoint = usable_checkpoint(folder, owner, following)
    drop_events(folder, following, checkpoint.epochs if checkpoint else 0)
    return following


def drop_events(folder: Path, round: int, epochs: int = 0) -> None:
    """Cut the events back to those before `round` and that many of the round itself."""
    path = folder / paths.EVENTS
    cut_file(path, _events_before(path, round) + sum(event_sizes(path, round)[:epochs]))


def sound_rounds(folder: Path) -> int:
    """Return how many rounds, from round 0 on, can be read; a resume goes on after them."""
    return _sound_rounds(folder)[0]


def _sound_rounds(folder: Path) -> tuple[int, int]:
    """Return their number and the bytes that their lines take."""
    number = size = 0
    for line in whole_lines(folder / paths.ROUNDS)[0]:
        if not _is_whole(folder, line, number):
            break
        number += 1
        size += len(line) + 1
    return number, size


def _is_whole(folder: Path, line: bytes, number: int) -> bool:
    try:
        record = RoundRecord.model_validate_json(line)
        masks = read_masks(paths.masks_file(folder, number))
        read_weights(paths.weights_file(folder, number), masks)
    except (ValidationError, StoreError):
        return False
    return record.round == number


def _events_before(path: Path, following: int) -> int:
    size = 0
    for line in whole_lines(path)[0]:
        number = round_of_event(line)
        if number is None or number >= following:
            break
        size += len(line) + 1
    return size
