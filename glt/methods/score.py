"""Pruning by an edge score (`glt.scores`), with magnitude pruning of weights: no search of masks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from glt.config import RunConfig, options_of
from glt.datasets import DATASETS, Graph
from glt.masks import EdgeMask, Masks, WeightMask, prune_count
from glt.methods import METHODS
from glt.methods.base import FindRun, Method, Proposal, RoundContext
from glt.registry import OneOf
from glt.scores import SCORES, Structure, edge_ranks
from glt.scores.base import FloatArray, IntArray, Pulse
from glt.seeds import stream

# Names of the random streams: what a score draws itself, and the order of equal scores.
SCORE_DRAWS, TIES = "edge score", "edge score ties"
# The last scores of each full graph, which every round of a seed reads again: name, seed, scores and ranks.
_KNOWN: WeakKeyDictionary[Graph, tuple[str, int, FloatArray, IntArray]] = WeakKeyDictionary()


class ScoreOptions(BaseModel):
    """Which score decides about edges, of which graph, and what decides about weights."""

    score: Annotated[str, OneOf(SCORES)] = Field("local_degree", description="Score that ranks the edges")
    inverse: bool = Field(False, description="Remove the highest scores first: a control")
    recompute: bool = Field(
        False, description="Scores of the remaining graph, computed in each round, instead of the full graph's"
    )
    weights: Literal["magnitude", "random"] = Field(
        "magnitude",
        description="magnitude: the smallest retrained weights of the last round go; random: a draw decides",
    )


class ScorePruning(Method):
    """Edges by structure alone, weights by iterative magnitude pruning; a round costs one retraining."""

    name = "score"
    label = "Edge score"
    description = "Removes the edges of lowest structural score, and the weights of smallest magnitude; no search."
    nested = True
    cause = "score"
    ignores = frozenset({"epochs", "gamma_graph", "gamma_weight"})
    Options = ScoreOptions

    def next_masks(self, context: RoundContext) -> Proposal:
        """Remove the share p_graph of the remaining entries by rank, and p_weight of the weights."""
        previous, rate = context.previous.edges, context.config.p_graph
        if not rate:
            return Proposal(Masks(previous, _pruned_weights(context)))
        edges, scores = without_lowest(previous, *_of_edges(context), prune_count(rate, previous.kept))
        return Proposal(Masks(edges, _pruned_weights(context)), scores)

    def search_epochs(self, config: RunConfig) -> int:
        """Return 0: nothing is trained to choose the masks."""
        return 0

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Raise ConfigError if the score is needed and cannot be computed on the data set."""
        check_score(config, options_of(config.options, ScoreOptions).score)


def check_score(config: RunConfig, name: str) -> None:
    """Raise ConfigError if edges are pruned by a score that cannot be computed on the data set."""
    if config.p_graph:
        sizes = DATASETS.get(config.dataset).sizes
        SCORES.get(name).check(sizes.edges, sizes.features)


def without_lowest(
    previous: EdgeMask, scores: FloatArray, ranks: IntArray, count: int
) -> tuple[EdgeMask, NDArray[np.float32]]:
    """Remove the `count` surviving entries of lowest rank; return the mask, and the score of every survivor.

    `scores` and `ranks` [E] are those of undirected edges. Both entries of an edge have its rank, so they go together;
    an odd count leaves one edge one-way.
    """
    edge = np.flatnonzero(previous.keep) % max(previous.num_edges, 1)
    return previous.prune_exactly(ranks[edge].astype(np.float64), count), scores[edge].astype(np.float32)


def _of_edges(context: RoundContext) -> tuple[FloatArray, IntArray]:
    """Return score and rank of every edge, [E]; of removed edges only those of the full graph mean something."""
    graph, name = context.problem.graph, context.options.score
    pulse = partial(context.pulse, "edge scores")
    if context.options.recompute:
        alive = np.flatnonzero(context.previous.edges.either_way())
        found = SCORES.get(name).of(Structure.of(graph, graph.edges[:, alive]), context.random(SCORE_DRAWS), pulse)
        scores, ranks = np.zeros(graph.num_edges), np.zeros(graph.num_edges, dtype=np.int64)
        scores[alive] = -found if context.options.inverse else found
        ranks[alive] = edge_ranks(scores[alive], context.random(TIES))
        return scores, ranks
    return static_ranks(graph, name, context.seed, pulse, inverse=context.options.inverse)


def static_ranks(
    graph: Graph, name: str, seed: int, pulse: Pulse, inverse: bool = False
) -> tuple[FloatArray, IntArray]:
    """Return score and rank of every edge of the full graph, [E]; rank 0 is removed first, equal scores by a draw."""
    known = _KNOWN.get(graph)
    if known is None or known[:2] != (name, seed):
        found = SCORES.get(name).of(Structure.of(graph), stream(seed, 0, SCORE_DRAWS), pulse)
        known = name, seed, found, edge_ranks(found, stream(seed, 0, TIES))
        _KNOWN[graph] = known
    _, _, found, ranks = known
    return (-found, graph.num_edges - 1 - ranks) if inverse else (found, ranks)


def _pruned_weights(context: RoundContext) -> WeightMask:
    """Remove the share p_weight of the remaining weights; one threshold for all tensors.

    Magnitudes are those after the last round's retraining, at its best-validation epoch (iterative magnitude pruning,
    Frankle and Carbin 2019).
    """
    kept, rate = context.previous.weights, context.config.p_weight
    if not rate:
        return kept
    if context.options.weights == "random":
        draw = context.random("random weights")
        return kept.prune({name: draw.random(keep.shape) for name, keep in kept.keep.items()}, rate)
    return without_smallest(context, prune_count(rate, kept.kept))


def without_smallest(context: RoundContext, count: int) -> WeightMask:
    """Remove the `count` surviving weights that the last round's retraining left smallest; one threshold for all."""
    kept, trained = context.previous.weights, context.last_weights()
    return kept.prune_exactly({name: np.abs(trained[name]) for name in kept.keep}, count)


METHODS.register(ScorePruning())
