"""The interface of a method: given theta_0 and the masks so far, it names the next masks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from glt.config import Note, RunConfig
from glt.masks import Masks
from glt.models.base import NoOptions
from glt.randomness import stream

if TYPE_CHECKING:
    from glt.training.loop import Schedule, TrainResult
    from glt.training.network import Network
    from glt.training.problem import Arrays, Problem

TrainStage = Callable[["Network", "Schedule", str], "TrainResult"]
Pulse = Callable[[str, int, int], None]
# What decided that an edge entry was removed; "no gradient": a search in which nothing but its penalty moved its mask.
Cause = Literal["gradient", "no gradient", "score", "random", "solver"]
# The edge entries whose masks a search trains: those the last round left, or all of them.
SearchedEdges = Literal["survivors", "all"]


class OtherSeed(Protocol):
    """What a method may read of a seed of another run."""

    def masks(self, round: int) -> Masks:
        """Return both masks after `round`."""

    def whole_rounds(self) -> int:
        """Return how many rounds are written, round 0 included."""


class OtherRun(Protocol):
    """What a method may read of another run in the same store."""

    @property
    def name(self) -> str:
        """Name of its folder."""

    @property
    def config(self) -> RunConfig:
        """Its settings."""

    def seeds(self) -> list[int]:
        """Return the seeds that were started."""

    def seed(self, seed: int) -> OtherSeed:
        """Return one seed."""


FindRun = Callable[[str], OtherRun]


@dataclass(frozen=True, eq=False)
class RoundContext:
    """All a method may look at when it chooses the masks of round `round`.

    `train` runs the one training loop under a stage name, so that its epochs are reported, recorded and stoppable;
    `pulse(stage, step, steps)` does the same for work that is no training, and `find_run` opens another run of the
    same store by name.
    """

    problem: Problem
    seed: int
    round: int
    theta0: Arrays
    previous: Masks
    options: Any
    train: TrainStage
    pulse: Pulse
    find_run: FindRun

    @property
    def config(self) -> RunConfig:
        """The run's settings."""
        return self.problem.config

    def random(self, stage: str) -> np.random.Generator:
        """Return this round's generator for a stage."""
        return stream(self.seed, self.round, stage)


@dataclass(frozen=True, eq=False)
class Proposal:
    """The next masks, and the scores by which edges went (one a survivor of the last round), where there are any.

    `notes` stand in the round's record: what else is to be known of how the masks were chosen, as values for JSON.
    """

    masks: Masks
    edge_scores: NDArray[np.float32] | None = None
    notes: Mapping[str, Note] = field(default_factory=dict)


class Method(ABC):
    """One way to choose edges and weights; everything else is the loop of Algorithm 2 in `glt.tickets`.

    `nested` promises that a round keeps nothing an earlier one removed (under settings that `nests` may look at);
    `reads_runs` says that it needs a finished run. `cause` is what decides about edges where no search of masks does;
    None for a method that takes its masks from elsewhere.
    """

    name: str
    label: str
    description: str
    nested: bool
    reads_runs: bool = False
    cause: Cause | None = None
    ignores: frozenset[str] = frozenset()
    Options: type[BaseModel] = NoOptions

    @abstractmethod
    def next_masks(self, context: RoundContext) -> Proposal:
        """Choose the masks of `context.round`."""

    @abstractmethod
    def search_epochs(self, config: RunConfig) -> int:
        """Return how many epochs a round trains before it retrains, for progress and estimates."""

    def note_words(self, notes: Mapping[str, Note]) -> str:
        """Say in a line what a round's notes tell; "" when there are none."""
        return ""

    def nests(self, config: RunConfig) -> bool:
        """Say whether, under these settings, a round keeps nothing an earlier one removed."""
        return self.nested

    def searched_edges(self, config: RunConfig) -> SearchedEdges | None:
        """Return which edge entries have a mask in the search of a round; None for a method that trains no masks."""
        return None

    def initialisation(self, config: RunConfig) -> int:
        """Return the number of the initialisation that theta_0 is: 0, so that methods share it seed by seed."""
        return 0

    def reads(self, config: RunConfig) -> str | None:
        """Return the name of the run that a run of this method needs, None when it needs none."""
        return None

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Raise ConfigError or StoreError, before anything starts, when what the method needs is not in the store."""
        return
