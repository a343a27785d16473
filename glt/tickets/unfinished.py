"""A round while it is computed: what of it is done, written down every so often so that a resume goes on from there."""

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
from glt.tickets.saved_proposal import saved_proposal, stored_proposal
from glt.training.loop import EpochResult, Stage, TrainResult
from glt.training.stage_state import Mismatch, StageState, named, under

INTERVAL_VARIABLE = "GLT_CHECKPOINT_SECONDS"
INTERVAL = 60.0


class UnfinishedRound:
    """The stages of one round in their order, and the round's proposal, with which those of the search are forgotten.

    Made from a checkpoint, it sets every stage to where it was, the ones that were over to their end. It raises
    Mismatch, in `train` too, when the checkpoint belongs to other stages than those that are asked for.
    """

    def __init__(self, seed_run: SeedRun, number: int, saved: Checkpoint | None = None) -> None:
        self.number = number
        self.epochs = saved.epochs if saved else 0
        self._seconds_before = saved.seconds if saved else 0.0
        self._seed_run = seed_run
        self._known: list[tuple[str, StageState]] = []
        self._finished: list[tuple[str, StageState]] = []
        self._proposal: Proposal | None = None
        self._at_work: tuple[str, Stage] | None = None
        self._started = self._written = time.monotonic()
        self._interval = checkpoint_seconds()
        if saved:
            self._take_up(saved)

    @property
    def seconds(self) -> float:
        """What the round has taken so far, in all processes that worked at it."""
        return time.monotonic() - self._started + self._seconds_before

    def propose(self, choose: Callable[[], Proposal]) -> Proposal:
        """Return the round's masks: those that are known, else those of `choose`; a search that led there is over."""
        if self._proposal is None:
            self._proposal = choose()
            if self._finished:
                self._finished = []
                self.save()
        return self._proposal

    def train(self, name: str, stage: Stage, on_epoch: Callable[[EpochResult], None]) -> TrainResult:
        """Run the next stage, or what is left of it; afterwards its network is as if all of it had been run here."""
        known = self._known.pop(0) if self._known else None
        if known:
            if known[0] != name:
                raise Mismatch(f"it is of the stage {known[0]!r}, where {name!r} is computed")
            stage.restore(known[1])
        self._at_work = name, stage
        result = stage.run(on_epoch)
        self._at_work = None
        self._finished.append((name, stage.state().copied()))
        return result

    def save_if_due(self) -> None:
        """Write the round down if a minute, or what GLT_CHECKPOINT_SECONDS says, has passed since the last time."""
        if time.monotonic() - self._written >= self._interval:
            self.save()

    def save(self) -> None:
        """Write the round down."""
        arrays: dict[str, NDArray[Any]] = {}
        state: dict[str, Any] = {"stages": []}
        at_work = [(self._at_work[0], self._at_work[1].state())] if self._at_work else []
        # Stages that are known from before and not asked for yet stay known.
        for place, (name, known) in enumerate([*self._finished, *at_work, *self._known]):
            arrays.update(named(f"stage {place}", known.arrays))
            state["stages"].append({"name": name, "about": dict(known.about)})
        if self._proposal:
            values, state["proposal"] = saved_proposal(self._proposal)
            arrays.update(named("proposal", values))
        self._seed_run.write_checkpoint(Checkpoint(self.number, self.epochs, round(self.seconds, 3), arrays, state))
        self._written = time.monotonic()

    def _take_up(self, saved: Checkpoint) -> None:
        state, arrays = saved.state, saved.arrays
        try:
            stages = [(told["name"], dict(told["about"])) for told in state["stages"]]
            if "proposal" in state:
                self._proposal = stored_proposal(under("proposal", arrays), state["proposal"])
        except (KeyError, TypeError, ValueError) as error:
            raise Mismatch(f"a part of it is not what this version writes ({error})") from None
        parts = [under(f"stage {place}", arrays) for place in range(len(stages))]
        self._known = [(name, StageState(part, about)) for (name, about), part in zip(stages, parts, strict=True)]


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
