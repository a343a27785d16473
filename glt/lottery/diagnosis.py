"""Diagnosis of a round: removals without a gradient, validation at chance, masks at zero.

A worker records it with the round (`diagnosed`). For older rounds it is derived from the store (`diagnoses`): removals
from masks and graph, validation from the epochs' scores. Mask values are not stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from glt.config import Note, RunConfig, options_of
from glt.datasets import DATASETS, Graph
from glt.errors import DataError, StoreError
from glt.formats import percent, spans
from glt.lottery.graph import whole_graph_of
from glt.masks import EdgeMask
from glt.methods import METHODS
from glt.methods.base import MaskSearch, TakenEdges
from glt.methods.ugs import KINDS, MASKS_READ, UGSOptions, at_zero, zero_from
from glt.removal_causes import cuts_of, cuts_without_gradient, seed_source, why_underived
from glt.store import Epochs, RoundRecord, SeedRun
from glt.training.metrics import at_chance_from
from glt.training.tasks import TASKS

CUTS = "cuts_without_gradient"
CHANCE = "validation_chance"
AT_CHANCE = "at_chance_from_"
SEARCH = "search"


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of a round; epochs count from 0 within their stage, shares are fractions.

    `at_chance_from` maps stages to the epoch from which validation is at chance to the end; None if unknown.
    `masks_read` is the search's epoch whose masks decided, `masks_at_zero` their share at or below zero by kind,
    `masks_zero_from` the first epoch after which it was half. `every_epoch` is False if some epochs are not stored.
    """

    cuts_without_gradient: float | None = None
    at_chance_from: Mapping[str, int] | None = None
    masks_read: int | None = None
    masks_at_zero: Mapping[str, float] = field(default_factory=dict)
    masks_zero_from: Mapping[str, int] = field(default_factory=dict)
    every_epoch: bool = True

    @property
    def is_read_late(self) -> bool:
        """Whether masks were read after the search's validation had fallen to chance."""
        fell = (self.at_chance_from or {}).get(SEARCH)
        return fell is not None and self.masks_read is not None and self.masks_read >= fell

    def collapse(self) -> dict[str, Any] | None:
        """Return the collapse in `show --json`; None if nothing is known."""
        if self.at_chance_from is None and not self.masks_at_zero:
            return None
        return {
            "at_chance_from": None if self.at_chance_from is None else dict(self.at_chance_from),
            "masks_read": self.masks_read,
            "masks_at_zero": dict(self.masks_at_zero) or None,
            "masks_zero_from": dict(self.masks_zero_from),
        }

    def words(self) -> list[str]:
        """Return a sentence for each problem of the round.

        >>> Diagnosis(at_chance_from={"search": 130}, masks_read=14).words()
        ['search: validation is at chance from epoch 131 to the end; masks were read before, at epoch 15']
        >>> Diagnosis(at_chance_from={"search": 0}, masks_read=4).words()
        ['search: validation is not above chance in any epoch; masks were read at epoch 5']
        >>> Diagnosis(at_chance_from={"complement 1": 0, "complement 2": 0}).words()
        ['complement 1, complement 2: validation is not above chance in any epoch']
        """
        stages = sorted((self.at_chance_from or {}).items(), key=lambda each: each[0] != SEARCH)
        found = _lines((stage, self._at_chance(stage, epoch)) for stage, epoch in stages)
        if any(self.masks_at_zero.values()):
            shares = [f"{percent(share)} of {kind[:-1]} masks" for kind, share in self.masks_at_zero.items()]
            reached = [f"{kind[:-1]} masks at epoch {epoch + 1}" for kind, epoch in self.masks_zero_from.items()]
            half = f" (half were first there: {', '.join(reached)})" if reached else ""
            found.append(f"search: {' and '.join(shares)} were at or below zero when they were read{half}")
        return found

    def _at_chance(self, stage: str, epoch: int) -> str:
        since = f"epoch {epoch + 1}" if self.every_epoch else f"epoch {epoch + 1} or earlier"
        what = f"is at chance from {since} to the end" if epoch else "is not above chance in any epoch"
        if stage != SEARCH or self.masks_read is None:
            return f"validation {what}"
        when = "" if not epoch else " after that," if self.is_read_late else " before,"
        return f"validation {what}; masks were read{when} at epoch {self.masks_read + 1}"


def diagnosed(
    config: RunConfig, whole: Graph, graph: Graph, masks: tuple[EdgeMask, EdgeMask] | None, epochs: Epochs | None
) -> dict[str, Note]:
    """Return the notes on a round from its masks before and after (None for round 0) and its epochs.

    `whole` is the data set, `graph` its message graph. Without readable epochs (None) there is no note on validation.
    """
    notes: dict[str, Note] = {}
    if masks is not None:
        share = cuts_without_gradient(config, graph, *masks)
        notes |= {} if share is None else {CUTS: share}
    chance = TASKS.get(config.task).chance(whole, config)
    if chance is not None and epochs is not None:
        notes[CHANCE] = chance.bound
        for number, stage in enumerate(epochs.stages):
            of_stage = epochs.stage == number
            place = at_chance_from(epochs.val[of_stage], chance)
            if place is not None:
                notes[AT_CHANCE + stage] = int(epochs.epoch[of_stage][place])
    return notes


def diagnoses(seed_run: SeedRun, records: Sequence[RoundRecord]) -> list[Diagnosis]:
    """Return the diagnosis of every round of a seed, given their records.

    Nothing is downloaded: without a local data set only the records are used.
    """
    noted = [of_notes(record.notes) for record in records]
    open_ones = [number for number, each in enumerate(noted) if each.at_chance_from is None]
    whole = _local_graph(seed_run) if open_ones else None
    if whole is None:
        return noted
    derived = dict(zip(open_ones, derive(seed_run, whole, open_ones), strict=True))
    return [derived.get(number, each) for number, each in enumerate(noted)]


def diagnosis_of(seed_run: SeedRun, record: RoundRecord) -> Diagnosis:
    """Return the diagnosis of one round."""
    noted = of_notes(record.notes)
    whole = _local_graph(seed_run) if noted.at_chance_from is None else None
    return noted if whole is None else derive(seed_run, whole, [record.round])[0]


def of_notes(notes: Mapping[str, Note]) -> Diagnosis:
    """Return the diagnosis in a round's record."""
    numbers = {name: value for name, value in notes.items() if isinstance(value, int | float)}
    stages = {name.removeprefix(AT_CHANCE): int(value) for name, value in numbers.items() if name.startswith(AT_CHANCE)}
    return Diagnosis(
        numbers.get(CUTS),
        stages if CHANCE in notes else None,
        int(numbers[MASKS_READ]) if MASKS_READ in numbers else None,
        {kind: numbers[at_zero(kind)] for kind in KINDS if at_zero(kind) in numbers},
        {kind: int(numbers[zero_from(kind)]) for kind in KINDS if zero_from(kind) in numbers},
    )


def derive(seed_run: SeedRun, whole: Graph, rounds: Sequence[int]) -> list[Diagnosis]:
    """Return the diagnoses of some rounds from their masks and epochs, given the data set.

    What cannot be read stays open.
    """
    config, found = seed_run.config, []
    graph = TASKS.get(config.task).message_graph(whole, config)
    searches = METHODS.get(config.method).searched_edges(config) is not None
    for number in rounds:
        masks, epochs = None, readable_epochs(seed_run, number)
        with suppress(StoreError):
            masks = (seed_run.edge_mask(number - 1), seed_run.edge_mask(number)) if number else None
        if masks and masks[0].num_edges != graph.num_edges:
            masks = None
        diagnosis = of_notes(diagnosed(config, whole, graph, masks, epochs))
        if epochs is not None:
            read, same = None, epochs.stage[1:] == epochs.stage[:-1]
            if searches and SEARCH in epochs.stages:
                # Masks are read at the best validation, or after the last epoch.
                options = options_of(config.options, UGSOptions)
                is_last = options.masks_from == "last" or options.schedule == "one_run"
                of_stage = epochs.stage == epochs.stages.index(SEARCH)
                read = int(epochs.epoch[of_stage][-1 if is_last else int(np.argmax(epochs.val[of_stage]))])
            every_epoch = bool((np.diff(epochs.epoch)[same] == 1).all())
            diagnosis = replace(diagnosis, masks_read=read, every_epoch=every_epoch)
        found.append(diagnosis)
    return found


def cause_shares(
    seed_run: SeedRun, records: Sequence[RoundRecord], found: Sequence[Diagnosis]
) -> list[dict[str, float] | None]:
    """Return, for every round, the share of each cause among the edge entries that it removed.

    `found` are the diagnoses of the rounds. {} if a round removed nothing, None if the causes are unknown.
    """
    config = seed_run.config
    method = METHODS.get(config.method)
    decision = method.edge_decision(config)
    if isinstance(decision, TakenEdges):
        return _shares_taken(seed_run, len(records))
    sparsities, shares = [record.graph_sparsity for record in records], list[dict[str, float] | None]()
    for number, (sparsity, diagnosis) in enumerate(zip(sparsities, found, strict=True)):
        before = sparsities[number - 1] if number and method.nests(config) else 0.0
        without = diagnosis.cuts_without_gradient
        if not number or sparsity <= before:
            shares.append({})
        elif not isinstance(decision, MaskSearch):
            shares.append(None if decision is None else {str(decision): 1.0})
        else:
            split: list[tuple[str, float]] = (
                [] if without is None else [("gradient", 1 - without), ("no gradient", without)]
            )
            shares.append({cause: share for cause, share in split if share} or None)
    return shares


def _shares_taken(seed_run: SeedRun, rounds: int) -> list[dict[str, float] | None]:
    """Return the shares of a run that takes its edges from another one, read from both runs' masks."""
    shares: list[dict[str, float] | None] = [None] * rounds
    whole, config = _local_graph(seed_run), seed_run.config
    if whole is None or not rounds:
        return shares
    shares[0], graph = {}, TASKS.get(config.task).message_graph(whole, config)
    with suppress(StoreError):
        masks = map(seed_run.edge_mask, range(rounds))
        for cuts in cuts_of(config, graph, masks, seed_source(seed_run, graph)):
            counts = cuts.counts()
            total = sum(counts.values())
            known: dict[str, float] = {
                str(cause): count / total for cause, count in counts.items() if cause is not None
            }
            shares[cuts.round] = known if None not in counts else None
    return shares


def readable_epochs(seed_run: SeedRun, number: int) -> Epochs | None:
    """Return a round's epochs, None if damaged or missing."""
    try:
        epochs = seed_run.event_file.epochs(number)
    except StoreError:
        return None
    return epochs if len(epochs) else None


def _local_graph(seed_run: SeedRun) -> Graph | None:
    """Return a seed's data set if it is available locally and unchanged."""
    name = seed_run.config.dataset
    if name not in DATASETS.names() or not DATASETS.get(name).is_at_hand():
        return None
    try:
        return whole_graph_of(seed_run)
    except (DataError, StoreError):
        return None


def summary(found: Sequence[Diagnosis]) -> list[str]:
    """Summarise the diagnoses of a seed's rounds 0, 1, ... in a few lines.

    >>> summary([Diagnosis(), Diagnosis(at_chance_from={"search": 130}, masks_read=14)])
    ['search: validation is at chance to the end in round 1, from epoch 131; masks were read before that']
    """
    stages = dict.fromkeys(stage for each in found for stage in each.at_chance_from or {})
    lines = _lines((stage, text) for stage in stages for text in _stage_texts(stage, found))
    for kind in KINDS:
        shares = {number: each.masks_at_zero.get(kind, 0.0) for number, each in enumerate(found)}
        rounds = [number for number, share in shares.items() if share]
        if rounds:
            most = max(rounds, key=lambda number: shares[number])
            what = f"search: some {kind[:-1]} masks were at or below zero when they were read"
            lines.append(f"{what} in {rounds_words(rounds)}, most in round {most}: {percent(shares[most])}")
    return lines


def cuts_line(config: RunConfig, shares: Sequence[float | None]) -> str:
    """Return one line on removals without a gradient by round; "" without a search.

    >>> cuts_line(RunConfig(), [None, 0.0, 0.4, 0.975])
    'edge entries removed without a gradient: 40.0 % in round 2, 97.5 % in round 3, else none'
    """
    if METHODS.get(config.method).searched_edges(config) is None or len(shares) < 2:
        return ""
    what, known = "edge entries removed without a gradient", [share for share in shares if share is not None]
    if not known:
        why = why_underived(config) or f"data set {config.dataset} or the masks cannot be read"
        return f"{what}: unknown, because {why}"
    some = [f"{percent(share)} in round {number}" for number, share in enumerate(shares) if share]
    return f"{what}: {', '.join([*some, 'else none'] if len(some) < len(known) else some) if some else 'none'}"


def _lines(texts: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines of stages and their texts; stages with the same text share a line."""
    stages: dict[str, list[str]] = {}
    for stage, text in texts:
        stages.setdefault(text, []).append(stage)
    return [f"{', '.join(named)}: {text}" for text, named in stages.items()]


def _stage_texts(stage: str, found: Sequence[Diagnosis]) -> list[str]:
    """Return what to say on the rounds in which a stage ends at chance."""
    fell = {number: each for number, each in enumerate(found) if stage in (each.at_chance_from or {})}
    starts = {number: (each.at_chance_from or {})[stage] for number, each in fell.items()}
    never = [number for number in fell if not starts[number]]
    late = [number for number in fell if starts[number] and stage == SEARCH and fell[number].is_read_late]
    early = [number for number in fell if number not in (*never, *late)]
    texts = [f"validation is not above chance in any epoch of {rounds_words(never)}"] if never else []
    for numbers, when in ((early, "before"), (late, "after")):
        if numbers:
            first, last = (f"{pick(starts[number] for number in numbers) + 1}" for pick in (min, max))
            by = "from" if all(fell[number].every_epoch for number in numbers) else "by"
            span = f"epoch {first}" if first == last else f"epoch {first} to {last}"
            read = f"; masks were read {when} that" if stage == SEARCH else ""
            texts.append(f"validation is at chance to the end in {rounds_words(numbers)}, {by} {span}{read}")
    return texts


def rounds_words(numbers: Sequence[int]) -> str:
    """Return round numbers as text, consecutive ones as a span.

    >>> rounds_words([1, 2, 3, 5]), rounds_words([4]), rounds_words([1, 2, 7, 8])
    ('rounds 1 to 3 and 5', 'round 4', 'rounds 1, 2, 7 and 8')
    """
    before, _, last = spans(numbers).rpartition(", ")
    joined = f"{before} and {last}" if before else last
    return f"round{'s' if len(numbers) > 1 else ''} {joined}"
