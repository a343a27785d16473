"""Causes of removals: gradient, no gradient, random, score or solver.

`Method.edge_decision` says what decides about edges under a run's settings: one cause for all of them, a search, or
another run. A search trains mask values by the gradient of the training loss. An entry on which no output of a training
node depends has no such gradient: penalty and weight decay lower its mask like every other one, so its rank is that of
its random start. These entries follow from graph, previous masks and config, without training.

Methods that exchange entries after a search (`ace_glt`, `fast_glt`) train on further graphs, which are not stored. The
cause is then that of the round's first search. In FastGLT that is on the whole graph: what is out of reach there never
had a gradient, so the noise of the start and degrees decided. Of the entries with the cause "gradient", some were out
of reach when they were exchanged; in ACE-GLT an entry that came back may also have brought others into reach.

`cuts_of` yields every round's removals with their causes; `seed_source` reads those of another run in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.datasets.graph import Graph
from glt.errors import ConfigError, StoreError
from glt.masks import BoolArray, EdgeMask
from glt.methods import METHODS
from glt.methods.base import Cause, MaskSearch, TakenEdges
from glt.models import MODELS
from glt.receptive_field import values_in_reach
from glt.store import SeedRun, Store
from glt.training.tasks import TASKS

# The codes of causes; 0: the entry is kept, or its cause is unknown.
CAUSES: tuple[Cause | None, ...] = (None, "gradient", "no gradient", "score", "random", "solver")
Codes = NDArray[np.int8]
WITH_AND_WITHOUT = CAUSES.index("gradient"), CAUSES.index("no gradient")


@dataclass(frozen=True, eq=False)
class Cuts:
    """The removals of a round.

    `removed` [entries] marks those of the round itself. `codes` [entries] has the cause of every entry that is missing
    after it, as an index into CAUSES.
    """

    round: int
    removed: BoolArray
    codes: Codes

    def counts(self) -> dict[Cause | None, int]:
        """Return the number of entries that the round removed by each cause that occurs; None: unknown."""
        numbers = np.bincount(self.codes[self.removed], minlength=len(CAUSES)).tolist()
        return {cause: count for cause, count in zip(CAUSES, numbers, strict=True) if count}


# The removals of another run, by its name; empty if it cannot be read.
Source = Callable[[str], Iterator[Cuts]]


def no_source(name: str) -> Iterator[Cuts]:
    """Return nothing: no other run is at hand."""
    return iter(())


def cuts_of(config: RunConfig, graph: Graph, masks: Iterable[EdgeMask], source: Source = no_source) -> Iterator[Cuts]:
    """Yield the removals of rounds 1, 2, ..., given the masks of rounds 0, 1, ...

    `graph` is the message graph. Where rounds are not nested an entry may return, and its last removal counts. `source`
    is asked for the run whose edges a run takes: their causes are those of that run's round.
    """
    decision = METHODS.get(config.method).edge_decision(config)
    taken = _taken(decision, source) if isinstance(decision, TakenEdges) else None
    codes: Codes | None = None
    for number, (before, after) in enumerate(pairwise(masks), start=1):
        if taken is not None:
            found = next(taken, None)
        elif isinstance(decision, MaskSearch):
            in_reach = entries_in_reach(config, graph, before)
            found = None if in_reach is None else np.where(in_reach, *WITH_AND_WITHOUT).astype(np.int8)
        else:
            found = np.full(after.keep.size, CAUSES.index(decision), dtype=np.int8)
        if found is None or found.size != after.keep.size:
            found = np.zeros(after.keep.size, dtype=np.int8)
        removed = removed_in(config, before, after)
        if codes is None or taken is not None:
            codes = np.where(after.keep, np.int8(0), found)
        else:
            # An entry that was removed earlier keeps the cause of that round.
            fresh = removed & (codes == 0)
            codes = np.where(after.keep, np.int8(0), np.where(fresh, found, codes))
        yield Cuts(number, removed, codes)


def _taken(decision: TakenEdges, source: Source) -> Iterator[Codes]:
    """Yield the causes in another run at the rounds whose edges are taken, which ascend."""
    wanted = iter(decision.rounds)
    number = next(wanted, None)
    for cuts in source(decision.run):
        if not decision.rounds:
            yield cuts.codes
        elif cuts.round == number:
            yield cuts.codes
            number = next(wanted, None)
            if number is None:
                return


def seed_source(seed_run: SeedRun, graph: Graph) -> Source:
    """Return what reads the removals of another run of the same store, for the seed that `seed_run` takes.

    Nothing is yielded for a run that is not in the store, or from the first round that cannot be read.
    """

    def removals(name: str) -> Iterator[Cuts]:
        with suppress(ConfigError, StoreError):
            theirs = _source_seed(seed_run, name)
            masks = map(theirs.edge_mask, range(theirs.whole_rounds()))
            yield from cuts_of(theirs.config, graph, masks, seed_source(theirs, graph))

    return removals


def _source_seed(seed_run: SeedRun, name: str) -> SeedRun:
    """Return the seed of another run that a seed takes its edges from."""
    reader = METHODS.get(seed_run.config.method)
    return Store.around(seed_run).find(name).seed(reader.seed_read(seed_run.config, seed_run.seed))


@dataclass(frozen=True, eq=False)
class SearchStep:
    """The undirected edges that a search removed.

    `in_reach` [E] counts the directions of each edge, 0 to 2, whose mask had a gradient, or would have one if it came
    back. `lost[n]` edges with n such directions lost their last direction; `returned` edges came back.
    """

    in_reach: Codes
    lost: tuple[int, int, int]
    returned: int = 0


def search_steps(seed_run: SeedRun, graph: Graph, number: int) -> list[SearchStep]:
    """Return the searches from all entries to a seed's edges after round `number`, of the run they are taken from.

    [] if no search decided about them, or its gradients cannot be derived.
    """
    config = seed_run.config
    decision = METHODS.get(config.method).edge_decision(config)
    if number and isinstance(decision, TakenEdges):
        with suppress(ConfigError, StoreError):
            theirs = decision.rounds[number - 1] if decision.rounds else number
            return search_steps(_source_seed(seed_run, decision.run), graph, theirs)
    if not isinstance(decision, MaskSearch):
        return []
    # A search that starts from all entries leads to its round's edges alone.
    first = number - 1 if decision.entries == "all" else 0
    steps = []
    for before, after in pairwise(map(seed_run.edge_mask, range(max(first, 0), number + 1))):
        entries = entries_in_reach(config, graph, before)
        if entries is None:
            return []
        started = before if decision.entries == "survivors" else EdgeMask.full(before.kind, before.num_edges)
        kept, left = started.either_way(), after.either_way()
        in_reach = EdgeMask(before.kind, entries).directions().sum(axis=0, dtype=np.int8)
        lost = np.bincount(in_reach[kept & ~left], minlength=3).tolist()
        steps.append(SearchStep(in_reach, (lost[0], lost[1], lost[2]), int(np.count_nonzero(left & ~kept))))
    return steps


def had_gradient(config: RunConfig, graph: Graph, previous: EdgeMask) -> BoolArray | None:
    """Mark the entries [keep.size] with a data gradient in the search after `previous`.

    `graph` is the message graph. Entries not searched are False. A search that prunes while training starts
    from all entries, and an entry with a gradient has it in the first epoch. None if no masks are trained, or if it
    cannot be derived (`why_underived`).
    """
    search, in_reach = _search(config), entries_in_reach(config, graph, previous)
    if search is None or in_reach is None:
        return None
    return in_reach if search.entries == "all" else in_reach & previous.keep


def entries_in_reach(config: RunConfig, graph: Graph, previous: EdgeMask) -> BoolArray | None:
    """Mark the entries [keep.size] with a gradient, and missing ones that would have one; see `had_gradient`."""
    search = _search(config)
    if search is None or why_underived(config):
        return None
    mask = previous if search.entries == "survivors" else EdgeMask.full(previous.kind, previous.num_edges)
    loss_nodes = None if search.reads_all_nodes else TASKS.get(config.task).loss_nodes(graph)
    effect = MODELS.get(config.model).mask_effect(config)
    return values_in_reach(graph, mask, loss_nodes, config.layers, effect)


def removed_in(config: RunConfig, previous: EdgeMask, mask: EdgeMask) -> BoolArray:
    """Mark the entries a round removed, given the masks before and after.

    A search that prunes while training starts from all entries, so every missing one is of that round.
    """
    search = _search(config)
    if search is not None and search.entries == "all":
        return ~mask.keep
    return previous.keep & ~mask.keep


def cuts_without_gradient(config: RunConfig, graph: Graph, previous: EdgeMask, mask: EdgeMask) -> float | None:
    """Return the share of a round's removed entries without a data gradient.

    None if `had_gradient` is None, or nothing was removed.
    """
    gradient = had_gradient(config, graph, previous)
    removed = removed_in(config, previous, mask)
    count = int(removed.sum())
    if gradient is None or not count:
        return None
    return int((removed & ~gradient).sum()) / count


def why_underived(config: RunConfig) -> str:
    """Return why gradients cannot be derived afterwards; "" if they can."""
    if _search(config) is None:
        return ""
    if MODELS.get(config.model).clusters(config) is not None:
        return (
            "in mini-batches an entry passes messages only if both its ends are in one cluster, and clusters are not "
            "stored"
        )
    return ""


def _search(config: RunConfig) -> MaskSearch | None:
    decision = METHODS.get(config.method).edge_decision(config)
    return decision if isinstance(decision, MaskSearch) else None
