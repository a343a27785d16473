"""A round while it is computed: what of it is done, written down every so often so that a resume goes on from there."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from glt.errors import ConfigError
from glt.methods import Proposal
from glt.store import Checkpoint, SeedRun
from glt.tickets.saved_parts import saved_proposal, saved_result, stored_proposal, stored_result
from glt.training.loop import EpochResult, Stage, TrainResult
from glt.training.stage_state import Mismatch, StageState, named, under

INTERVAL_VARIABLE = "GLT_CHECKPOINT_SECONDS"
INTERVAL = 60.0


class UnfinishedRound:
    """The stages of one round in their order, those that are over with their results, and the round's proposal.

    Made from a checkpoint, it hands out what is over instead of computing it, and sets the stage at work to where it
    was: `train` and `propose` raise Mismatch when the checkpoint belongs to another round than the one that asks.
    """

    def __init__(self, seed_run: SeedRun, number: int, saved: Checkpoint | None = None) -> None:
        self.number = number
        self.epochs = saved.epochs if saved else 0
        self._seed_run = seed_run
        self._saved = saved
        self._begun = 0
        self._results: list[tuple[str, TrainResult]] = []
        self._proposal: Proposal | None = None
        self._interrupted: Mapping[str, Any] | None = None
        self._at_work: tuple[str, Stage] | None = None
        self._started = self._written = time.monotonic()
        self._interval = checkpoint_seconds()
        if saved:
            self._take_up(saved)

    @property
    def seconds(self) -> float:
        """What the round has taken so far, in all processes that worked at it."""
        return time.monotonic() - self._started + (self._saved.seconds if self._saved else 0.0)

    def propose(self, choose: Callable[[], Proposal]) -> Proposal:
        """Return the round's masks: those that are known, else those of `choose`; a search that led there is over."""
        if self._proposal is None:
            self._proposal = choose()
            if self._results:
                self._begun, self._results = 0, []
                self.save()
        return self._proposal

    def train(self, name: str, stage: Stage, on_epoch: Callable[[EpochResult], None]) -> TrainResult:
        """Run the next stage, or what is left of it."""
        place = self._begun
        self._begun += 1
        if place < len(self._results):
            known, result = self._results[place]
            _same(known, name)
            return result
        if self._interrupted:
            self._resume(name, stage, self._interrupted)
            self._interrupted = None
        self._at_work = name, stage
        result = stage.run(on_epoch)
        self._at_work = None
        self._results.append((name, result))
        return result

    def save_if_due(self) -> None:
        """Write the round down if a minute, or what GLT_CHECKPOINT_SECONDS says, has passed since the last time."""
        if time.monotonic() - self._written >= self._interval:
            self.save()

    def save(self) -> None:
        """Write the round down."""
        arrays: dict[str, NDArray[Any]] = {}
        state: dict[str, Any] = {"finished": [name for name, _ in self._results]}
        for place, (_, result) in enumerate(self._results):
            values, state[f"finished/{place}"] = saved_result(result)
            arrays.update(named(f"finished/{place}", values))
        if self._proposal:
            values, state["proposal"] = saved_proposal(self._proposal)
            arrays.update(named("proposal", values))
        if self._at_work:
            name, stage = self._at_work
            known = stage.state()
            arrays.update(named("stage", known.arrays))
            state["stage"] = {"name": name, "about": dict(known.about)}
        self._seed_run.write_checkpoint(Checkpoint(self.number, self.epochs, round(self.seconds, 3), arrays, state))
        self._written = time.monotonic()

    def _take_up(self, saved: Checkpoint) -> None:
        state, arrays = saved.state, saved.arrays
        try:
            for place, name in enumerate(state["finished"]):
                part = f"finished/{place}"
                self._results.append((name, stored_result(under(part, arrays), state[part])))
            if "proposal" in state:
                self._proposal = stored_proposal(under("proposal", arrays), state["proposal"])
            if "stage" in state:
                self._interrupted = {name: state["stage"][name] for name in ("name", "about")}
        except (KeyError, TypeError, ValueError) as error:
            raise Mismatch(f"a part of it is not what this version writes ({error})") from None

    def _resume(self, name: str, stage: Stage, told: Mapping[str, Any]) -> None:
        """Set a stage to where it was when the round was last written down."""
        assert self._saved
        _same(told["name"], name)
        stage.restore(StageState(under("stage", self._saved.arrays), told["about"]))


def checkpoint_seconds() -> float:
    """Return after how many seconds a round at work is written down: GLT_CHECKPOINT_SECONDS, else a minute."""
    wanted = os.environ.get(INTERVAL_VARIABLE)
    try:
        seconds = INTERVAL if wanted is None else float(wanted)
    except ValueError:
        seconds = math.nan
    if math.isnan(seconds) or seconds < 0:
        raise ConfigError(f"{INTERVAL_VARIABLE} is {wanted!r}: set it to a number of seconds, 0 for every epoch.")
    return seconds


def _same(known: str, name: str) -> None:
    if known != name:
        raise Mismatch(f"it is of the stage {known!r}, where {name!r} is computed")
