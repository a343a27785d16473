"""Algorithm 2 (UGS, Chen et al. 2021): by round, choose masks, rewind, retrain, write.

Start at `compute_rounds`. `_Rounds` computes the rounds of a seed; `UnfinishedRound` is the round in progress, saved
regularly so that a resume continues from there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from glt.config import Note, RunConfig, options_of
from glt.cost.macs import macs
from glt.datasets import load_graph
from glt.lottery.diagnosis import diagnosed, of_notes, readable_epochs
from glt.lottery.initial_weights import source_of, with_first_layer
from glt.lottery.resume import UnfinishedRound
from glt.masks import Masks
from glt.methods import METHODS, Proposal, Retraining, RoundContext
from glt.methods.base import RETRAIN
from glt.seeds import stream
from glt.store import Checkpoint, Event, Progress, RoundRecord, SeedRun, Store
from glt.training.network import Network
from glt.training.problem import Arrays, Mismatch, Problem
from glt.training.retrain_rule import RetrainRule, dense_logits
from glt.training.trainer import EpochResult, Schedule, Stage, TrainResult


class Stopped(Exception):
    """The observer asked to stop; everything up to the last epoch is on disk."""


class Observer(Protocol):
    """Receives progress, and decides at every epoch whether to stop."""

    def on_progress(self, progress: Progress) -> None:
        """Receive the progress."""

    def should_stop(self) -> bool:
        """Return whether to stop at this epoch."""


def compute_rounds(seed_run: SeedRun, observer: Observer, device: str = "cpu") -> None:
    """Compute all rounds of one seed that are not on disk yet (paper, Algorithm 2).

    Resuming gives the bytes of an uninterrupted run: each stage of each round draws from its own random stream, and an
    unfinished round continues from its checkpoint, or starts again. Raises Stopped when the observer asks to stop.
    """
    next_round = seed_run.drop_unfinished()
    config = seed_run.config
    problem = Problem(config, load_graph(config.dataset), device)
    if next_round == 0 or not seed_run.has_theta0():
        draw = METHODS.get(config.method).initialisation(config)
        theta0 = problem.initial_weights(seed_run.seed, draw)
        seed_run.write_init(with_first_layer(theta0, source_of(seed_run), problem.graph))
    rounds = _Rounds(problem, seed_run, observer)
    for number in range(next_round, config.rounds + 1):
        rounds.compute(number)


class _Rounds:
    """Computes and writes the rounds of a seed."""

    def __init__(self, problem: Problem, seed_run: SeedRun, observer: Observer) -> None:
        self._problem = problem
        self._seed_run = seed_run
        self._observer = observer
        self._theta0: Arrays = seed_run.theta0()
        self._method = METHODS.get(problem.config.method)
        self._clock = Clock(problem.config)

    def compute(self, number: int) -> None:
        """Compute a round, from its checkpoint if there is one, and write it."""
        saved = self._seed_run.checkpoint()
        try:
            self._compute(number, saved)
        except Mismatch as error:
            self._seed_run.drop_checkpoint(f"{error}.")
            self._compute(number)

    def _compute(self, number: int, saved: Checkpoint | None = None) -> None:
        unfinished = UnfinishedRound(self._seed_run, number, saved)
        self._clock.start_round(number, unfinished.epochs)
        proposal = unfinished.propose(lambda: self._proposal(unfinished))
        if saved and not proposal.masks.alike(self._problem.full_masks()):
            raise Mismatch("the saved masks belong to another network or graph")
        options = self._retraining(number)
        network = Network(self._problem, proposal.masks, proposal.start or self._theta0)
        schedule = replace(retrain_schedule(self._problem.config), rule=self._rule(options))
        result = self._train(unfinished, network, schedule, RETRAIN)
        weights = {name: result.best_tensors[f"theta/{name}"] for name in self._theta0}
        masks = _left_by_retraining(proposal.masks, weights, options.weights_left)
        record = self._record(number, masks, proposal.notes, result, unfinished.seconds)
        self._seed_run.write_round(record, masks, weights, proposal.edge_scores)
        for sentence in of_notes(record.notes).words():
            self._seed_run.log(f"Round {number}: {sentence}.")

    def _retraining(self, number: int) -> Retraining:
        config, weights = self._problem.config, self._problem.full_masks().weights.total
        return self._method.retraining(config, number, weights) if number else Retraining()

    def _rule(self, options: Retraining) -> RetrainRule | None:
        if options == Retraining():
            return None
        # Computed again in each process, so that a checkpoint need not hold it.
        teacher = dense_logits(self._problem, self._seed_run.weights(0)) if options.distillation else None
        return RetrainRule(options.weights_left, teacher, options.distillation)

    def _proposal(self, unfinished: UnfinishedRound) -> Proposal:
        number = unfinished.number
        if number == 0:
            return Proposal(self._problem.full_masks())
        previous = self._seed_run.masks(number - 1)
        proposal = self._method.next_masks(self._context(unfinished, previous))
        if self._method.nests(self._problem.config) and not proposal.masks.within(previous):
            raise ValueError(f"{self._method.name} declares nested masks, but those of round {number} are not nested")
        return proposal

    def _context(self, unfinished: UnfinishedRound, previous: Masks) -> RoundContext:
        return RoundContext(
            self._problem,
            self._seed_run.seed,
            unfinished.number,
            self._theta0,
            previous,
            options_of(self._problem.config.options, self._method.Options),
            partial(self._train, unfinished),
            partial(self._report, unfinished),
            partial(Store.around(self._seed_run).find, asking=self._seed_run.path.parent.name),
            partial(self._seed_run.weights, unfinished.number - 1),
        )

    def _train(self, unfinished: UnfinishedRound, network: Network, schedule: Schedule, name: str) -> TrainResult:
        number = unfinished.number

        def on_epoch(result: EpochResult) -> None:
            val, test = result.scores.val, result.scores.test
            event = Event(round=number, stage=name, epoch=result.epoch, loss=result.loss, val=val, test=test)
            self._seed_run.append_event(event)
            unfinished.epochs += 1
            self._clock.count(number, result.epoch + 1 if name == RETRAIN else None)
            self._report(unfinished, name, result.epoch + 1, schedule.epochs)

        stage = Stage(network, schedule, stream(self._seed_run.seed, number, name))
        return unfinished.train(name, stage, on_epoch)

    def _report(self, unfinished: UnfinishedRound, stage: str, epoch: int, epochs: int) -> None:
        fraction, left = self._clock.estimate()
        progress = Progress(
            round=unfinished.number,
            rounds=self._problem.config.rounds,
            stage=stage,
            epoch=epoch,
            epochs=epochs,
            fraction=fraction,
            seconds_left=left,
        )
        self._observer.on_progress(progress)
        if self._observer.should_stop():
            unfinished.save()
            raise Stopped
        unfinished.save_if_due()

    def _record(
        self, number: int, masks: Masks, notes: Mapping[str, Note], result: TrainResult, seconds: float
    ) -> RoundRecord:
        problem = self._problem
        edges = (self._seed_run.edge_mask(number - 1), masks.edges) if number else None
        epochs = readable_epochs(self._seed_run, number)
        return RoundRecord.of(
            number,
            masks,
            val=result.best.val,
            test=result.best.test,
            test_last=result.last.test,
            best_epoch=result.best_epoch,
            seconds=round(seconds, 3),
            macs=macs(problem.config, problem.graph, masks).totals,
            notes={**notes, **diagnosed(problem.config, problem.whole, problem.graph, edges, epochs)},
        )


def _left_by_retraining(masks: Masks, weights: Arrays, weights_left: int | None) -> Masks:
    """Return a round's masks: those proposed, or after a projection the weights that it left."""
    if weights_left is None:
        return masks
    magnitudes = {name: np.abs(weights[name]) for name in masks.weights.keep}
    return Masks(masks.edges, masks.weights.prune_exactly(magnitudes, masks.weights.kept - weights_left))


def retrain_schedule(config: RunConfig) -> Schedule:
    """Return the schedule of retraining under binary masks."""
    return Schedule(config.retrain_epochs, config.learning_rate, config.weight_decay)


class Clock:
    """Share of a seed's epochs done, and remaining time at this process's pace."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._started = time.perf_counter()
        self._timed = 0
        self._epochs_done = 0

    def start_round(self, number: int, epochs: int = 0) -> None:
        """Count earlier rounds, and `epochs` of this round by another process, as done."""
        self._epochs_done = epochs_before(self._config, number) + epochs

    def count(self, number: int, retrained: int | None = None) -> None:
        """Count an epoch of round `number`; `retrained` epochs of its retraining are done, None during its search.

        A search may end early, so a retraining counts from where it would begin after a full one.
        """
        self._timed += 1
        self._epochs_done += 1
        if retrained is not None:
            before = epochs_before(self._config, number + 1) - self._config.retrain_epochs
            self._epochs_done = before + retrained

    def estimate(self) -> tuple[float, float | None]:
        """Return the fraction done, and the seconds left (None before anything was timed)."""
        total = epochs_before(self._config, self._config.rounds + 1)
        pace = (time.perf_counter() - self._started) / self._timed if self._timed else None
        left = None if pace is None else round(pace * (total - self._epochs_done), 1)
        return min(self._epochs_done / total, 1.0), left


def epochs_before(config: RunConfig, number: int) -> int:
    """Return the epochs of all rounds before `number`, searches included; an upper bound where they may end early."""
    if number == 0:
        return 0
    search = METHODS.get(config.method).search_epochs(config)
    return number * config.retrain_epochs + (number - 1) * search
