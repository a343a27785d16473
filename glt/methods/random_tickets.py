"""Random tickets (method `reinit`): a finished run's masks, trained from a fresh initialisation (paper, Random GLT)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from glt.config import RunConfig, options_of
from glt.errors import ConfigError
from glt.methods import METHODS
from glt.methods.base import FindRun, Method, OtherRun, Proposal, RoundContext
from glt.models import MODELS
from glt.training.tasks import TASKS

# Runs that differ in one of these have masks of another shape or problem.
SHARED = ("dataset", "task", "model", "hidden", "layers", "edge_mask")


class ReinitOptions(BaseModel):
    """Whose masks, and which of the fresh initialisations."""

    masks_of: str = Field("", description="Name of the finished run in this store whose masks are taken")
    draw: int = Field(0, ge=0, description="Number of the fresh initialisation; give several for an average")


class Reinit(Method):
    """A ticket without its initialisation: the same masks, seed by seed, other weights."""

    name = "reinit"
    label = "Random ticket"
    description = "Takes the masks of a finished run and trains from a fresh initialisation instead of theta_0."
    nested = False
    reads_runs = True
    ignores = frozenset({"epochs", "gamma_graph", "gamma_weight", "p_graph", "p_weight"})
    Options = ReinitOptions

    def next_masks(self, context: RoundContext) -> Proposal:
        """Take the other run's masks of the same seed and round."""
        source = context.find_run(context.options.masks_of)
        return Proposal(source.seed(context.seed).masks(context.round))

    def search_epochs(self, config: RunConfig) -> int:
        """Count nothing: the search was done by the other run."""
        return 0

    def initialisation(self, config: RunConfig) -> int:
        """Number fresh draws from 1; 0 is every other method's start."""
        return 1 + options_of(config.options, ReinitOptions).draw

    def reads(self, config: RunConfig) -> str | None:
        """Return the run whose masks are taken."""
        return options_of(config.options, ReinitOptions).masks_of or None

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Refuse a run that is missing, does not fit or lacks a seed or round."""
        name = options_of(config.options, ReinitOptions).masks_of
        if not name:
            raise ConfigError("Random tickets need the run whose masks they take: name it with masks_of.")
        source = find_run(name)
        for field in SHARED:
            _compare(field, getattr(config, field), getattr(source.config, field), source)
        own, others = _shaping_options(config), _shaping_options(source.config)
        for field in (name for name in others if name in own):
            _compare(field, own[field], others[field], source)
        for seed in seeds:
            _check_rounds(config.rounds, seed, source)


def _shaping_options(config: RunConfig) -> dict[str, object]:
    """Return the options of model and task, absent ones too, and the config's others."""
    owners = MODELS.get(config.model), TASKS.get(config.task)
    filled = [options_of(config.options, owner.Options).model_dump() for owner in owners]
    return {**config.options, **{name: value for options in filled for name, value in options.items()}}


def _compare(field: str, ours: object, theirs: object, source: OtherRun) -> None:
    if ours != theirs:
        raise ConfigError(f"{field} is {ours!r} here and {theirs!r} in {source.name}: masks fit only where they agree.")


def _check_rounds(rounds: int, seed: int, source: OtherRun) -> None:
    finished = source.seed(seed).whole_rounds() - 1
    if seed not in source.seeds() or finished < rounds:
        held = f"only {finished} of the {rounds} rounds" if seed in source.seeds() and finished >= 0 else "no round"
        raise ConfigError(f"Seed {seed} of {source.name} has {held} asked for: finish it first, or ask for less.")


METHODS.register(Reinit())
