"""The interface of a method: from theta_0 and the current masks to the next masks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from glt.config import Note, OptionValue, RunConfig
from glt.masks import Masks, remaining_after
from glt.models.base import NoOptions
from glt.seeds import stream

if TYPE_CHECKING:
    from glt.training.network import Network
    from glt.training.problem import Arrays, Problem
    from glt.training.trainer import Schedule, TrainResult

TrainStage = Callable[["Network", "Schedule", str], "TrainResult"]
Pulse = Callable[[str, int, int], None]
# The training stage that every round has.
RETRAIN = "retrain"
# The note on the epochs of a search that ended early.
SEARCH_EPOCHS = "search_epochs"
# What decided a removal; "no gradient": only the penalty changed the mask.
Cause = Literal["gradient", "no gradient", "score", "random", "solver"]
# Edge entries whose masks a search trains: the last round's survivors, or all.
SearchedEdges = Literal["survivors", "all"]


@dataclass(frozen=True)
class MaskSearch:
    """A search that trains a mask value for each of the `entries`; the lowest values go.

    `reads_all_nodes`: its loss has a term on the outputs of all nodes, so that every entry has a gradient.
    """

    entries: SearchedEdges
    reads_all_nodes: bool = False


@dataclass(frozen=True)
class TakenEdges:
    """The edges of another run of the store; `rounds` are its rounds that 1, 2, ... take, empty for the same ones."""

    run: str
    rounds: tuple[int, ...] = ()


# What decides which edges go; None if nothing does, or it is unknown.
EdgeDecision = Cause | MaskSearch | TakenEdges | None


class OtherSeed(Protocol):
    """What a method may read of another run's seed."""

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
    """All a method may use to choose the masks of round `round`.

    `train` runs the training loop under a stage name, so its epochs are reported, recorded and can be stopped;
    `pulse(stage, step, steps)` does the same for other work. `find_run` opens another run of the store by name.
    `last_weights` reads the tensors of the last round's retraining, at its best-validation epoch, zeros where pruned.
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
    last_weights: Callable[[], Arrays]

    @property
    def config(self) -> RunConfig:
        """The run's settings."""
        return self.problem.config

    def random(self, stage: str) -> np.random.Generator:
        """Return this round's generator for a stage."""
        return stream(self.seed, self.round, stage)


@dataclass(frozen=True, eq=False)
class Proposal:
    """The next masks, edge scores, notes for the record, and the weights that retraining starts from (None: theta_0).

    Edge scores have one value per survivor of the previous round, in entry order. (The scores of weights, which are
    not kept, have the full shape of their tensors; see `glt.masks`.)
    """

    masks: Masks
    edge_scores: NDArray[np.float32] | None = None
    notes: Mapping[str, Note] = field(default_factory=dict)
    start: Arrays | None = None


@dataclass(frozen=True)
class Retraining:
    """What a round's retraining does besides training on the task's loss; it follows from settings and round.

    With `weights_left`, all prunable weights are trained, and after each step all but this number, the largest, are set
    to 0: a projection on an l0 ball. The round's weight mask is then what is left at the best-validation epoch.
    `distillation` multiplies KL(dense || network), the mean over all nodes, in the loss; dense is round 0's network.
    """

    weights_left: int | None = None
    distillation: float = 0.0


class Method(ABC):
    """A way to choose edges and weights; `glt.lottery` does the rest of Algorithm 2.

    - `name`: what configs and the command line call it. `label`: what users read. `description`: one sentence.
    - `nested`: a round keeps nothing an earlier one removed (`nests` may look at settings).
    - `reads_runs`: it can need finished runs (`reads` names them).
    - `cause`: what decides about edges, if it is the same for all of them under all settings (`edge_decision`).
    - `ignores`: settings that cannot change a round. They are left out of the fingerprint and refused in grids.
    - `Options`: a pydantic model of the method's own settings, which `RoundContext.options` holds.
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
        """Return the epochs of a round before retraining."""

    def note_words(self, notes: Mapping[str, Note]) -> str:
        """Return a round's notes in one line; "" without any."""
        return ""

    def nests(self, config: RunConfig) -> bool:
        """Return whether rounds are nested under these settings."""
        return self.nested

    def remaining(self, config: RunConfig, round: int, entries: int, weights: int) -> tuple[int, int]:
        """Return how many of `entries` edge entries and of `weights` prunable weights are left after `round`."""
        return remaining_after(config.p_graph, entries, round), remaining_after(config.p_weight, weights, round)

    def settings_fix_counts(self, config: RunConfig) -> tuple[bool, bool]:
        """Return whether `remaining` follows from the settings alone, for edges and for weights."""
        return True, True

    def retraining(self, config: RunConfig, round: int, weights: int) -> Retraining:
        """Return the options of the retraining in `round` (from 1), given the number of prunable weights."""
        return Retraining()

    def starts_whole(self, config: RunConfig) -> bool:
        """Return whether each round's search starts from the full network instead of the last round's survivors."""
        return False

    def searched_edges(self, config: RunConfig) -> SearchedEdges | None:
        """Return which edge entries a search has masks for; None without a search."""
        return None

    def edge_decision(self, config: RunConfig) -> EdgeDecision:
        """Return what decides which edges go: a search, another run, or one cause for all of them.

        `glt.removal_causes` derives the cause of each removed entry from it.
        """
        entries = self.searched_edges(config)
        return self.cause if entries is None else MaskSearch(entries)

    def initialisation(self, config: RunConfig) -> int:
        """Return the number of the initialisation; methods share number 0 seed by seed."""
        return 0

    def reads(self, config: RunConfig) -> Mapping[str, int]:
        """Return the runs that this one needs: by name, the last round that must be finished."""
        return {}

    def seed_read(self, config: RunConfig, seed: int) -> int:
        """Return the seed of those runs that `seed` reads."""
        return seed

    def published(self, dataset: str, model: str) -> Mapping[str, OptionValue]:
        """Return the settings of the method's own publication for a data set and model, fields and options by name.

        The preset `published` applies them. Without a publication of its own a method has none.
        """
        return {}

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Raise ConfigError or StoreError if what the method needs is not in the store."""
        return
