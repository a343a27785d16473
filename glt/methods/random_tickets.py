"""Random tickets (method `reinit`): masks of a finished run, fresh initialisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from glt.config import RunConfig, options_of
from glt.errors import ConfigError
from glt.methods import METHODS
from glt.methods.base import EdgeDecision, FindRun, Method, Proposal, RoundContext, TakenEdges
from glt.methods.source_run import Half, check_source

HALVES: tuple[Half, ...] = ("edges", "weights")


class ReinitOptions(BaseModel):
    """Source of the masks and number of the fresh initialisation."""

    masks_of: str = Field("", description="Finished run in this store that provides the masks")
    draw: int = Field(0, ge=0, description="Number of the fresh initialisation; sweep it for an average")


class Reinit(Method):
    """The masks of a ticket, seed by seed, with a fresh initialisation."""

    name = "reinit"
    label = "Random ticket"
    description = "Trains the masks of a finished run from a fresh initialisation instead of theta_0."
    nested = False
    reads_runs = True
    ignores = frozenset({"epochs", "gamma_graph", "gamma_weight", "p_graph", "p_weight"})
    Options = ReinitOptions

    def next_masks(self, context: RoundContext) -> Proposal:
        """Return the source run's masks of the same seed and round."""
        source = context.find_run(context.options.masks_of)
        return Proposal(source.seed(context.seed).masks(context.round))

    def search_epochs(self, config: RunConfig) -> int:
        """Return 0: the source run did the search."""
        return 0

    def edge_decision(self, config: RunConfig) -> EdgeDecision:
        """Return that the edges are those of the source run."""
        name = options_of(config.options, ReinitOptions).masks_of
        return TakenEdges(name) if name else None

    def settings_fix_counts(self, config: RunConfig) -> tuple[bool, bool]:
        """Return False for both: the source run fixes them."""
        return False, False

    def initialisation(self, config: RunConfig) -> int:
        """Return the number of the draw plus 1; 0 is theta_0."""
        return 1 + options_of(config.options, ReinitOptions).draw

    def reads(self, config: RunConfig) -> Mapping[str, int]:
        """Return the run whose masks are taken, needed to this run's last round."""
        name = options_of(config.options, ReinitOptions).masks_of
        return {name: config.rounds} if name else {}

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Raise ConfigError if the source run is missing, unsuitable or incomplete."""
        name = options_of(config.options, ReinitOptions).masks_of
        if not name:
            raise ConfigError(
                "Random tickets need a source of masks: add --set masks_of=RUN, a finished run of the same store."
            )
        check_source(config, find_run(name), HALVES, seeds, config.rounds)


METHODS.register(Reinit())
