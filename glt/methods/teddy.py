"""TEDDY (Seo et al., ICLR 2024): edges by a degree score, weights by projection while retraining, and distillation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from glt.config import NonNegative, OptionValue, RunConfig, options_of
from glt.datasets import DATASETS
from glt.errors import ConfigError
from glt.masks import Masks
from glt.methods import METHODS
from glt.methods.base import FindRun, Method, Proposal, Retraining, RoundContext
from glt.methods.score import check_score, static_ranks, without_lowest, without_smallest
from glt.registry import OneOf
from glt.scores import SCORES

# arXiv 2402.01261: the experiments' settings for every network, the heads of the GAT, and the factor of distillation
# that is printed for one pair of network and data set.
PUBLISHED: Mapping[str, OptionValue] = {
    "hidden": 512, "layers": 2, "learning_rate": 0.01, "weight_decay": 5e-4, "dropout": 0.5, "retrain_epochs": 200,
    "rounds": 20, "p_graph": 0.05, "p_weight": 0.1, "distillation": 0.1, "gat_heads": 8,
}  # fmt: skip
PUBLISHED_FACTORS = {("citeseer", "gin"): 10.0}


class TeddyOptions(BaseModel):
    """The three parts of the method, each of which can be exchanged or switched off."""

    score: Annotated[str, OneOf(SCORES)] = Field("teddy", description="Score of the full graph that ranks the edges")
    projection: bool = Field(
        True,
        description="Set the smallest weights to 0 after every retraining step; otherwise the smallest weights of the "
        "last round go before retraining",
    )
    distillation: NonNegative = Field(
        0.1, description="Factor of the divergence from round 0's class probabilities in the loss; 0 = off"
    )


class Teddy(Method):
    """Edges once by a score of the full graph, weights while retraining; a round costs one retraining."""

    name = "teddy"
    label = "TEDDY"
    description = "Removes edges by a degree score, projects weights while retraining, and distils the dense network."
    nested = False
    cause = "score"
    ignores = frozenset({"epochs", "gamma_graph", "gamma_weight"})
    Options = TeddyOptions

    def next_masks(self, context: RoundContext) -> Proposal:
        """Remove the entries of lowest score down to the round's count; with projection all weights are trained.

        Equal scores fall to a seeded draw. Both entries of an edge go together, so at most one edge is left one-way.
        """
        config, options, full = context.config, context.options, context.problem.full_masks()
        previous, kept = context.previous.edges, context.previous.weights
        entries, weights = self.remaining(config, context.round, full.edges.kept, full.weights.kept)
        edges, scores = previous, None
        if config.p_graph:
            pulse = partial(context.pulse, "edge scores")
            ranked = static_ranks(context.problem.graph, options.score, context.seed, pulse)
            edges, scores = without_lowest(previous, *ranked, previous.kept - entries)
        if options.projection or not config.p_weight:
            return Proposal(Masks(edges, full.weights), scores)
        return Proposal(Masks(edges, without_smallest(context, kept.kept - weights)), scores)

    def search_epochs(self, config: RunConfig) -> int:
        """Return 0: nothing is trained to choose the masks."""
        return 0

    def remaining(self, config: RunConfig, round: int, entries: int, weights: int) -> tuple[int, int]:
        """Return what is left of `entries` and `weights` after `round`: as published, each round counts from the start.

        Removed are floor((1 - (1 - p_graph)^k) entries) and ceil((1 - (1 - p_weight)^k) weights).

        >>> Teddy().remaining(RunConfig(p_graph=0.05, p_weight=0.1), 2, 10_556, 737_280)
        (9527, 597196)
        """
        shares = [(1 - Fraction(repr(rate))) ** round for rate in (config.p_graph, config.p_weight)]
        return entries - int((1 - shares[0]) * entries), int(shares[1] * weights)

    def retraining(self, config: RunConfig, round: int, weights: int) -> Retraining:
        """Return the projection on the round's number of weights, and the distillation."""
        options = options_of(config.options, TeddyOptions)
        _, left = self.remaining(config, round, 0, weights)
        return Retraining(left if options.projection and config.p_weight else None, options.distillation)

    def nests(self, config: RunConfig) -> bool:
        """Return whether rounds are nested: edges are, weights only without the projection."""
        return not (options_of(config.options, TeddyOptions).projection and config.p_weight)

    def published(self, dataset: str, model: str) -> Mapping[str, OptionValue]:
        """Return the publication's settings; the factor of distillation is 0.1 except for one pair."""
        return {**PUBLISHED, "distillation": PUBLISHED_FACTORS.get((dataset, model), 0.1)}

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Raise ConfigError for a score that cannot be computed, and for distillation without classes."""
        options = options_of(config.options, TeddyOptions)
        check_score(config, options.score)
        if options.distillation and (config.task != "node" or DATASETS.get(config.dataset).binary_tasks):
            raise ConfigError(
                "Distillation compares class probabilities, which link prediction and binary tasks do not have: set "
                "distillation=0."
            )


METHODS.register(Teddy())
