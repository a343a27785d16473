"""Finding the last whole round of a seed folder and clearing away what a killed worker left after it."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from glt.errors import StoreError
from glt.store import paths
from glt.store.json_files import whole_lines
from glt.store.records import Event, RoundRecord
from glt.store.round_files import read_masks, read_weights
from glt.store.safe_files import cut_file, writing


def drop_after_last_whole_round(folder: Path) -> int:
    """Cut the folder back to its last whole round and return the number of the next one.

    A round counts as whole when its line and its two tensor files can be read; the lines go first, so that
    being killed in here does no harm.
    """
    following, size = _sound_rounds(folder)
    cut_file(folder / paths.ROUNDS, size)
    for file in sorted(folder.iterdir()):
        number = paths.round_of(file.name)
        if file.name.endswith(paths.UNFINISHED_WRITE) or (number is not None and number >= following):
            with writing(file):
                file.unlink()
    cut_file(folder / paths.EVENTS, _events_before(folder / paths.EVENTS, following))
    return following


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
        try:
            if Event.model_validate_json(line).round >= following:
                break
        except ValidationError:
            break
        size += len(line) + 1
    return size
