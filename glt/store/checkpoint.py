"""A round that is not finished: one file with arrays and JSON, from which the worker can go on within the round.

What is in it means nothing here. A file that is damaged, of another round, run or seed, or of epochs that events.jsonl
does not hold, is as good as none: the round then starts again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from glt.errors import StoreError
from glt.store import paths
from glt.store.checksums import event_sizes
from glt.store.json_files import SEE_DOCTOR
from glt.store.safe_files import append_line, flush_file, writing
from glt.store.tensors import read_tensors, write_tensors


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """How far a round is: its epochs so far (a line of events.jsonl each), its seconds, and what it goes on from."""

    round: int
    epochs: int
    seconds: float
    arrays: Mapping[str, NDArray[Any]]
    state: Mapping[str, Any]


def write_checkpoint(folder: Path, owner: str, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint of a seed folder; `owner` names the run and the seed it can be used for."""
    about = {name: getattr(checkpoint, name) for name in ("round", "epochs", "seconds", "state")}
    flush_file(folder / paths.EVENTS)
    write_tensors(folder / paths.CHECKPOINT, checkpoint.arrays, {**about, "owner": owner})


def read_checkpoint(folder: Path, owner: str, round: int) -> Checkpoint | None:
    """Return the checkpoint of `round`, None without one; raises StoreError for one that cannot be used."""
    path = folder / paths.CHECKPOINT
    if not path.exists():
        return None
    arrays, about = read_tensors(path, SEE_DOCTOR)
    if about.get("owner") != owner:
        raise StoreError(f"{path} is of another run or seed.")
    if about.get("round") != round:
        raise StoreError(f"{path} is of round {about.get('round')}, not of round {round}.")
    epochs, seconds, state = (about.get(name) for name in ("epochs", "seconds", "state"))
    if type(epochs) is not int or epochs < 0 or not isinstance(seconds, int | float) or not isinstance(state, dict):
        raise StoreError(f"{path} is damaged (it does not say how far the round is).")
    if len(event_sizes(folder / paths.EVENTS, round)[1]) < epochs:
        raise StoreError(f"{path} tells of {epochs} epochs, more than events.jsonl has.")
    return Checkpoint(round, epochs, float(seconds), arrays, state)


def usable_checkpoint(folder: Path, owner: str, round: int) -> Checkpoint | None:
    """Return the checkpoint of `round`; one that cannot be used is removed, with a line in the log, and gives None."""
    try:
        return read_checkpoint(folder, owner, round)
    except StoreError as error:
        drop_checkpoint(folder, str(error))
        return None


def drop_checkpoint(folder: Path, why: str = "") -> None:
    """Remove the checkpoint; `why` it cannot be used is said in the log."""
    path = folder / paths.CHECKPOINT
    if why:
        append_line(folder / paths.LOG, f"The checkpoint is left aside and its round starts again: {why}")
    with writing(path):
        path.unlink(missing_ok=True)
