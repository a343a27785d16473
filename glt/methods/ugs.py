"""UGS: learn masks with the weights, then remove the lowest (paper, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, Field, model_validator

from glt.config import AbsentMeans, Count, NonNegative, Note, Positive, RunConfig, options_of
from glt.errors import ConfigError
from glt.formats import number_of
from glt.masks import Masks, prune_count, remaining_after
from glt.methods import METHODS
from glt.methods.base import SEARCH_EPOCHS, Method, Proposal, RoundContext, SearchedEdges

if TYPE_CHECKING:
    from glt.training.early_bird import EarlyBird
    from glt.training.network import Network
    from glt.training.problem import Arrays
    from glt.training.trainer import Schedule


# The note on the epoch at which the masks were read. `at_zero` and `zero_from` name those of each kind of mask.
MASKS_READ = "masks_read"
KINDS = ("edges", "weights")


def at_zero(kind: str) -> str:
    """Return the name of the note on the masks of one kind at or below zero."""
    return f"{kind[:-1]}_masks_at_zero"


def zero_from(kind: str) -> str:
    """Return the name of the note on the epoch at which half of the masks of one kind had reached zero."""
    return f"{at_zero(kind)}_from"


class UGSOptions(BaseModel):
    """Search settings on which paper and authors' code differ or are silent."""

    schedule: Annotated[Literal["iterative", "one_shot", "one_run"], AbsentMeans("iterative")] = Field(
        "iterative",
        description="iterative: each round prunes the survivors of the last; one_shot: each round searches the full "
        "network and is cut to its counts at once; one_run: each round searches the full network and prunes a little "
        "every epoch (authors' code for ogbn-proteins and ogbl-collab)",
    )
    masks_from: Literal["best_validation", "last"] = Field(
        "best_validation", description="Epoch at which the masks are read"
    )
    mask_weight_decay: bool = Field(True, description="Weight decay on the masks too (authors' code)")
    mask_learning_rate: Positive | None = Field(None, description="Step size of the masks; empty = as the weights")
    mask_noise: NonNegative = Field(1e-5, description="Soft masks start at 1 + U(-noise, noise)")
    search_learning_rate: Positive | None = Field(
        None, description="Step size of the weights in the search; empty = learning_rate"
    )
    stop: Annotated[Literal["never", "early_bird"], AbsentMeans("never")] = Field(
        "never",
        description="never: a search has all its epochs; early_bird: it ends when the binary masks that it would give "
        "have settled (GEBT)",
    )
    stop_threshold: Annotated[Positive, AbsentMeans(0.1)] = Field(
        0.1,
        description="early_bird: bound on the share of edge entries, plus the share of weights, whose binary mask "
        "differs from the last epoch's; at most twice the removed share can differ",
    )
    stop_patience: Annotated[Count, AbsentMeans(3)] = Field(
        3, description="early_bird: epochs in a row that must stay below the bound"
    )
    inherit_weights: Annotated[bool, AbsentMeans(False)] = Field(
        False,
        description="Retraining starts from the weights of the search where its masks are read, instead of theta_0",
    )

    @model_validator(mode="after")
    def _ends(self) -> Self:
        """Raise ConfigError for an early end of a search that prunes by the epoch."""
        if self.stop == "early_bird" and self.schedule == "one_run":
            raise ConfigError(
                "With schedule=one_run the number of epochs fixes how many entries are left, so a search cannot end "
                "early: set stop=never or schedule=iterative."
            )
        return self


class UGS(Method):
    """Unified GNN sparsification: one search stage a round, rewinding and retraining between rounds."""

    name = "ugs"
    label = "UGS"
    description = "Learns edge and weight masks together with the network, then removes the lowest values."
    nested = True
    Options = UGSOptions

    def nests(self, config: RunConfig) -> bool:
        """Return whether rounds are nested; those that start from the full network need not be."""
        return not self.starts_whole(config)

    def starts_whole(self, config: RunConfig) -> bool:
        """Return whether the schedule is one_shot or one_run."""
        return options_of(config.options, UGSOptions).schedule != "iterative"

    def searched_edges(self, config: RunConfig) -> SearchedEdges | None:
        """Return the survivors, or all entries where each round starts from them; None if p_graph is 0."""
        if not config.p_graph:
            return None
        return "all" if self.starts_whole(config) else "survivors"

    def next_masks(self, context: RoundContext) -> Proposal:
        """Search, and remove the lowest magnitudes at the end or during the search."""
        if not searched_kinds(context.config):
            return Proposal(context.previous)
        search = _pruned_during_search if context.options.schedule == "one_run" else _pruned_after_search
        return search(context, self.schedule(context))

    def schedule(self, context: RoundContext) -> Schedule:
        """Return the schedule of the search."""
        from glt.training.trainer import Schedule

        config, options = context.config, context.options
        learning_rate = options.search_learning_rate or config.learning_rate
        return Schedule(
            epochs=config.epochs,
            learning_rate=learning_rate,
            weight_decay=config.weight_decay,
            mask_learning_rate=options.mask_learning_rate or learning_rate,
            mask_weight_decay=config.weight_decay if options.mask_weight_decay else 0.0,
            gamma_graph=config.gamma_graph,
            gamma_weight=config.gamma_weight,
            stop=_early_bird(context) if options.stop == "early_bird" else None,
        )

    def note_words(self, notes: Mapping[str, Note]) -> str:
        """Return after how many epochs a search ended that could end early.

        >>> UGS().note_words({"search_epochs": 17})
        'search: ended after 17 epochs'
        """
        epochs = notes.get(SEARCH_EPOCHS)
        return f"search: ended after {number_of(epochs, 'epoch')}" if isinstance(epochs, int) else ""

    def search_epochs(self, config: RunConfig) -> int:
        """Count one search stage to its last epoch; nothing is searched if both rates are 0."""
        return config.epochs if searched_kinds(config) else 0


def _pruned_after_search(context: RoundContext, schedule: Schedule) -> Proposal:
    """Search, and remove the lowest magnitudes at once: of the survivors, or of all entries for "one_shot"."""
    searched, removed = _searched(context)
    result = context.train(search_network(context, searched), schedule, "search")
    is_best = context.options.masks_from == "best_validation"
    tensors = result.best_tensors if is_best else result.last_tensors
    magnitudes = {name: np.abs(value) for name, value in tensors.items() if name.startswith("mask/")}
    edge_scores = magnitudes.pop("mask/edges", None)
    weight_scores = {name.removeprefix("mask/"): value for name, value in magnitudes.items()}
    edges, weights = searched.edges, searched.weights
    read = result.best_epoch if is_best else result.last_epoch
    positive = {name: int(np.count_nonzero(tensors[name] > 0)) for name in tensors if name.startswith("mask/")}
    counts = {}
    if edge_scores is not None:
        counts["edges"] = positive.pop("mask/edges"), edges.kept
        edges = edges.prune_exactly(edge_scores, removed["edges"])
    if weight_scores:
        counts["weights"] = sum(positive.values()), weights.kept
        weights = weights.prune_exactly(weight_scores, removed["weights"])
    shares = {kind: 1 - above / kept if kept else 0.0 for kind, (above, kept) in counts.items()}
    notes = _mask_notes(read, shares, result.zero_from)
    if schedule.stop:
        notes[SEARCH_EPOCHS] = result.last_epoch + 1
    # Scores are recorded for survivors of the last round, which a search of the full network does not follow.
    recorded = edge_scores if context.options.schedule == "iterative" else None
    return Proposal(Masks(edges, weights), recorded, notes, _start(context, tensors))


def _searched(context: RoundContext) -> tuple[Masks, dict[str, int]]:
    """Return the masks under which a round searches, and how many edge entries and weights it removes."""
    config, previous = context.config, context.previous
    if context.options.schedule == "iterative":
        counts = {"edges": (config.p_graph, previous.edges.kept), "weights": (config.p_weight, previous.weights.kept)}
        return previous, {kind: prune_count(rate, kept) for kind, (rate, kept) in counts.items()}
    full = context.problem.full_masks()
    edges = full.edges.kept - remaining_after(config.p_graph, full.edges.kept, context.round)
    weights = full.weights.kept - remaining_after(config.p_weight, full.weights.kept, context.round)
    return full, {"edges": edges, "weights": weights}


def _pruned_during_search(context: RoundContext, schedule: Schedule) -> Proposal:
    """Search from all entries, pruning after each epoch down to the round's counts.

    The masks are those after the last epoch: earlier ones keep too many entries.
    """
    from glt.training.network import Narrowing, Survivors

    config, full = context.config, context.problem.full_masks()
    edges = full.edges.kept, remaining_after(config.p_graph, full.edges.kept, context.round)
    weights = full.weights.kept, remaining_after(config.p_weight, full.weights.kept, context.round)
    network = search_network(context, full)
    network.alive = Survivors(full, context.problem.device)
    result = context.train(network, replace(schedule, narrowing=Narrowing(edges, weights)), "search")
    notes = _mask_notes(result.last_epoch, result.last_at_zero, result.zero_from)
    return Proposal(network.alive.masks(), notes=notes, start=_start(context, result.last_tensors))


def _start(context: RoundContext, tensors: Arrays) -> Arrays | None:
    """Return the weights that retraining starts from, given those of the search; None for theta_0."""
    return {name: tensors[f"theta/{name}"] for name in context.theta0} if context.options.inherit_weights else None


def _early_bird(context: RoundContext) -> EarlyBird:
    from glt.training.early_bird import EarlyBird

    return EarlyBird(*_searched(context), context.options.stop_threshold, context.options.stop_patience)


def _mask_notes(read: int, shares: Mapping[str, float], reached: Mapping[str, int]) -> dict[str, Note]:
    """Return the notes on masks `read` at an epoch: shares at zero, and when half had reached it."""
    return {
        MASKS_READ: read,
        **{at_zero(kind): share for kind, share in shares.items()},
        **{zero_from(kind): epoch for kind, epoch in reached.items()},
    }


def search_network(context: RoundContext, masks: Masks, draw: str = "mask start") -> Network:
    """Return the network of a search under `masks`, rewound to theta_0; `draw` names the stream of the masks' start."""
    from glt.training.network import Network, SoftMasks

    noise = context.random(draw)
    soft = SoftMasks.around_one(
        masks, context.options.mask_noise, noise, context.problem.device, searched_kinds(context.config)
    )
    return Network(context.problem, masks, context.theta0, soft)


def searched_kinds(config: RunConfig) -> list[str]:
    """Return the kinds whose masks a search trains: those of which a share is removed.

    >>> searched_kinds(RunConfig(p_weight=0))
    ['edges']
    """
    return [kind for kind, rate in zip(KINDS, (config.p_graph, config.p_weight), strict=True) if rate]


METHODS.register(UGS())
