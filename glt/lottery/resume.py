"""The round in progress: saved as a checkpoint, and resumed from it to the same bits."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from glt.errors import ConfigError
from glt.methods import Proposal
from glt.store import Checkpoint, SeedRun
from glt.store.tensors import packed_masks, unpacked_masks
from glt.training.problem import Mismatch, StageState, named, under
from glt.training.trainer import EpochResult, Stage, TrainResult

EDGE_SCORES = "edge_scores"
NOTES = "notes"
START = "start"
INTERVAL_VARIABLE = "GLT_CHECKPOINT_SECONDS"
INTERVAL = 60.0


class UnfinishedRound:
    """The round in progress: its stages in order and, after the search, its proposal.

    Restores stages from a checkpoint. Raises Mismatch, also in `train`, if the checkpoint has other stages.
    """

    def __init__(self, seed_run: SeedRun, number: int, saved: Checkpoint | None = None) -> None:
        self.number = number
        self.epochs = saved.epochs if saved else 0
        self._seconds_before = saved.seconds if saved else 0.0
        self._seed_run = seed_run
        self._known: list[tuple[str, StageState]] = []
        self._finished: list[tuple[str, StageState]] = []
        self._proposal: Proposal | None = None
        self._running: tuple[str, Stage] | None = None
        self._started = self._written = time.monotonic()
        self._interval = checkpoint_seconds()
        if saved:
            self._take_up(saved)

    @property
    def seconds(self) -> float:
        """Seconds of the round so far, in all processes."""
        return time.monotonic() - self._started + self._seconds_before

    def propose(self, choose: Callable[[], Proposal]) -> Proposal:
        """Return the saved proposal, or that of `choose`, which is saved in place of the stages of the search."""
        if self._proposal is None:
            self._proposal = choose()
            if self._finished:
                self._finished = []
                self.save()
        return self._proposal

    def train(self, name: str, stage: Stage, on_epoch: Callable[[EpochResult], None]) -> TrainResult:
        """Run the next stage, from its saved state if there is one."""
        known = self._known.pop(0) if self._known else None
        if known:
            if known[0] != name:
                raise Mismatch(f"the saved stage is {known[0]!r} instead of {name!r}")
            stage.restore(known[1])
        self._running = name, stage
        result = stage.run(on_epoch)
        self._running = None
        self._finished.append((name, stage.state().copied()))
        return result

    def save_if_due(self) -> None:
        """Save the round if GLT_CHECKPOINT_SECONDS (default 60) have passed."""
        if time.monotonic() - self._written >= self._interval:
            self.save()

    def save(self) -> None:
        """Write the round as a checkpoint."""
        arrays: dict[str, NDArray[Any]] = {}
        state: dict[str, Any] = {"stages": []}
        running = [(self._running[0], self._running[1].state())] if self._running else []
        # Saved stages that have not been restored yet are kept.
        for place, (name, known) in enumerate([*self._finished, *running, *self._known]):
            arrays.update(named(f"stage {place}", known.arrays))
            state["stages"].append({"name": name, "about": dict(known.about)})
        if self._proposal:
            values, about = packed_masks(self._proposal.masks)
            if self._proposal.notes:
                about = {**about, NOTES: dict(self._proposal.notes)}
            if self._proposal.edge_scores is not None:
                values = {**values, EDGE_SCORES: self._proposal.edge_scores}
            state["proposal"] = about
            arrays.update(named("proposal", values))
            arrays.update(named(START, self._proposal.start or {}))
        self._seed_run.write_checkpoint(Checkpoint(self.number, self.epochs, round(self.seconds, 3), arrays, state))
        self._written = time.monotonic()

    def _take_up(self, saved: Checkpoint) -> None:
        state, arrays = saved.state, saved.arrays
        try:
            stages = [(stage["name"], dict(stage["about"])) for stage in state["stages"]]
            if "proposal" in state:
                values, about = under("proposal", arrays), state["proposal"]
                notes = dict(about.get(NOTES, {}))
                start = under(START, arrays) or None
                self._proposal = Proposal(unpacked_masks(values, about), values.get(EDGE_SCORES), notes, start)
        except (KeyError, TypeError, ValueError) as error:
            raise Mismatch(f"a part of the checkpoint has an unknown format ({error})") from None
        parts = [under(f"stage {place}", arrays) for place in range(len(stages))]
        self._known = [(name, StageState(part, about)) for (name, about), part in zip(stages, parts, strict=True)]


def checkpoint_seconds() -> float:
    """Return the seconds between checkpoints: GLT_CHECKPOINT_SECONDS, by default 60."""
    text = os.environ.get(INTERVAL_VARIABLE)
    try:
        seconds = INTERVAL if text is None else float(text)
    except ValueError:
        seconds = math.nan
    if math.isnan(seconds) or seconds < 0:
        raise ConfigError(f"{INTERVAL_VARIABLE} is {text!r}: set it to a number of seconds, or 0 to save every epoch.")
    return seconds
