"""ACE-GLT (Wang et al., ECAI 2023): after UGS's cut, exchange what is kept with what was pruned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from glt.config import Count, Note, OptionValue, RunConfig, Share, options_of
from glt.formats import percent
from glt.masks import BoolArray, EdgeMask, Masks, WeightMask, prune_count
from glt.methods import METHODS
from glt.methods.base import Proposal, RoundContext
from glt.methods.ugs import UGS, UGSOptions, search_network, searched_kinds

if TYPE_CHECKING:
    from glt.training.trainer import Schedule, TrainResult

Scores = NDArray[np.floating]
# The stages of a refinement, before their numbers.
TICKET, COMPLEMENT = "ticket", "complement"


class ACEGLTOptions(UGSOptions):
    """UGS's settings, and those of the refinements."""

    ace_refinements: Count = Field(6, description="Refinements of a round, each an exchange")
    ace_epochs: Count = Field(20, description="Epochs that ticket and complement are trained in a refinement")
    ace_share: Share = Field(0.002, description="Share of what is kept that a refinement exchanges")


class ACEGLT(UGS):
    """UGS, then refinements: train ticket and complement apart, exchange the ticket's worst with the others' best.

    A refinement starts from theta_0, like a search. The cut of UGS and every exchanged ticket are judged by the best
    validation score of their own training, so there is one training more than there are exchanges; the first with the
    highest score is kept. (The public code keeps the exchange that follows the training with the highest score, and
    so never scores what it keeps.)
    """

    name = "ace_glt"
    label = "ACE-GLT"
    description = "UGS, then exchanges of kept entries with pruned ones that prove better in training."
    nested = False
    Options = ACEGLTOptions

    def nests(self, config: RunConfig) -> bool:
        """Return False: exchanges bring pruned entries back."""
        return False

    def next_masks(self, context: RoundContext) -> Proposal:
        """Cut as UGS does, then refine; a half with rate 0 stays whole."""
        cut = super().next_masks(context)
        if not searched_kinds(context.config):
            return cut
        options, ticket = context.options, cut.masks
        schedule = replace(self.schedule(context), epochs=options.ace_epochs, stop=None)
        tickets, validations = [ticket], list[float]()
        for number in range(1, options.ace_refinements + 1):
            inside, validation = _trained(context, ticket, schedule, f"{TICKET} {number}")
            outside, _ = _trained(context, complement(ticket, context.config), schedule, f"{COMPLEMENT} {number}")
            ticket = exchanged(ticket, inside, outside, options.ace_share, context.config)
            tickets.append(ticket)
            validations.append(validation)
        last = _trained(context, ticket, schedule, f"{TICKET} {options.ace_refinements + 1}")
        validations.append(last[1])
        best = int(np.argmax(validations))
        returned = int(np.count_nonzero(tickets[best].edges.keep & ~context.previous.edges.keep))
        notes = ExchangeNotes(ace_refinement=best, ace_validations=validations, ace_edges_returned=returned)
        # No edge scores: what the search scored lowest is no longer all that went.
        return Proposal(tickets[best], notes={**cut.notes, **notes.model_dump()}, start=cut.start)

    def search_epochs(self, config: RunConfig) -> int:
        """Count the search, a training of every ticket, and one of every complement."""
        options = options_of(config.options, ACEGLTOptions)
        trainings = 2 * options.ace_refinements + 1
        return config.epochs + trainings * options.ace_epochs if searched_kinds(config) else 0

    def published(self, dataset: str, model: str) -> Mapping[str, OptionValue]:
        """Return the rates of the publication."""
        return {"p_graph": 0.05, "p_weight": 0.2}

    def note_words(self, notes: Mapping[str, Note]) -> str:
        """Return which ticket of a round was kept, in one line.

        >>> ACEGLT().note_words({"ace_refinement": 2, "ace_validations": [0.75, 0.74, 0.76], "ace_edges_returned": 3})
        'exchange 2 of 2 kept: validation 76.0 %, without exchange 75.0 %; edge entries returned: 3'
        """
        search = super().note_words(notes)
        try:
            found = ExchangeNotes.model_validate(dict(notes))
        except ValidationError:
            return search
        scores, kept = found.ace_validations, found.ace_refinement
        what = f"exchange {kept} of {len(scores) - 1} kept" if kept else "no exchange kept"
        before = f", without exchange {percent(scores[0])}" if kept else ""
        validation = f"{what}: validation {percent(scores[kept])}{before}"
        return "; ".join(filter(None, (search, validation, f"edge entries returned: {found.ace_edges_returned}")))


class ExchangeNotes(BaseModel):
    """The refinements in a round's record.

    `ace_validations` are the scores of UGS's cut and of every exchanged ticket, `ace_refinement` is the number of the
    one kept (0: the cut), `ace_edges_returned` counts its edge entries that the last round did not have.
    """

    ace_refinement: int = Field(ge=0)
    ace_validations: list[float] = Field(min_length=1)
    ace_edges_returned: int


def complement(ticket: Masks, config: RunConfig) -> Masks:
    """Return the masks of everything outside a ticket; a half that is not pruned stays whole."""
    edges, weights = ticket.edges, ticket.weights
    if config.p_graph:
        edges = EdgeMask(edges.kind, ~edges.keep)
    if config.p_weight:
        weights = WeightMask({name: ~keep for name, keep in weights.keep.items()})
    return Masks(edges, weights)


def exchanged(
    ticket: Masks, inside: Mapping[str, Scores], outside: Mapping[str, Scores], share: float, config: RunConfig
) -> Masks:
    """Exchange the share of lowest scores `inside` a ticket with as many of the highest `outside`; counts stay.

    Scores of `edges` have one value per entry of ticket and complement, those of weights the full shape of each tensor.
    """
    edges, weights = ticket.edges, ticket.weights
    if config.p_graph:
        edges = EdgeMask(edges.kind, _exchanged(edges.keep, inside["edges"], outside["edges"], share))
    if config.p_weight:
        flat = np.concatenate([keep.ravel() for keep in weights.keep.values()])
        kept, gone = (
            np.concatenate([scores[name].ravel() for name in weights.keep])[where]
            for scores, where in ((inside, flat), (outside, ~flat))
        )
        ends = np.cumsum([keep.size for keep in weights.keep.values()])[:-1]
        parts = np.split(_exchanged(flat, kept, gone, share), ends)
        shapes = {name: keep.shape for name, keep in weights.keep.items()}
        weights = WeightMask({name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)})
    return Masks(edges, weights)


def _exchanged(keep: BoolArray, kept: Scores, gone: Scores, share: float) -> BoolArray:
    """Exchange kept with pruned places of `keep`, ties by index; `kept` and `gone` are their scores in order.

    >>> _exchanged(np.array([True, False, True, False]), np.array([2.0, 1.0]), np.array([0.1, 0.5]), 0.5).tolist()
    [True, False, False, True]
    """
    count = min(prune_count(share, kept.size), gone.size)
    # A mask that keeps `count` of the pruned places takes those of the highest scores.
    inside = EdgeMask("undirected", keep).prune_exactly(kept, count).keep
    outside = EdgeMask("undirected", ~keep).prune_exactly(gone, gone.size - count).keep
    return inside | outside


def _trained(context: RoundContext, masks: Masks, schedule: Schedule, stage: str) -> tuple[dict[str, Scores], float]:
    """Train a network with soft masks; return the masks' magnitudes by tensor, and the best validation score."""
    result: TrainResult = context.train(search_network(context, masks, f"masks of {stage}"), schedule, stage)
    tensors = result.best_tensors if context.options.masks_from == "best_validation" else result.last_tensors
    found = {name.removeprefix("mask/"): np.abs(values) for name, values in tensors.items() if name.startswith("mask/")}
    return dict(found), result.best.val


METHODS.register(ACEGLT())
