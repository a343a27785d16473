"""Algorithm 2: choose masks, rewind to theta_0, retrain, write the round; repeat. Every method shares this loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from glt.config import RunConfig, options_of
from glt.cost.macs import macs
from glt.data import load_graph
from glt.masks import Masks
from glt.methods import METHODS, Proposal, RoundContext
from glt.randomness import stream
from glt.store import Event, Progress, RoundRecord, SeedRun, Store
from glt.tickets.start import source_of, with_first_layer
from glt.training.loop import EpochResult, Schedule, TrainResult, train
from glt.training.network import Network
from glt.training.problem import Arrays, Problem


class Stopped(Exception):
    """The observer asked to stop; whole rounds are on disk and a resume goes on after the last."""


class Observer(Protocol):
    """Who watches a worker: told of progress, asked at every epoch whether to stop."""

    def on_progress(self, progress: Progress) -> None:
        """Take note of where the worker is."""

    def should_stop(self) -> bool:
        """Say whether to stop at this epoch."""


def find_tickets(seed_run: SeedRun, observer: Observer, device: str = "cpu") -> None:
    """Compute all rounds of one seed that are not on disk yet (paper, Algorithm 2).

    Resuming gives the bytes an uninterrupted run gives, because each stage of each round draws from a stream of its
    own and a round that is not whole starts again. Raises Stopped when the observer asks to stop.
    """
    next_round = seed_run.drop_unfinished()
    config = seed_run.config
    problem = Problem(config, load_graph(config.dataset), device)
    if next_round == 0:
        draw = METHODS.get(config.method).initialisation(config)
        theta0 = problem.initial_weights(seed_run.seed, draw)
        seed_run.write_init(with_first_layer(theta0, source_of(seed_run), problem.graph))
    search = _Search(problem, seed_run, observer)
    for round_ in range(next_round, config.rounds + 1):
        search.compute(round_)


class _Search:
    """One seed's rounds: what they share, and the way each is computed and written."""

    def __init__(self, problem: Problem, seed_run: SeedRun, observer: Observer) -> None:
        self._problem = problem
        self._seed_run = seed_run
        self._observer = observer
        self._theta0: Arrays = seed_run.theta0()
        self._method = METHODS.get(problem.config.method)
        self._clock = _Clock(problem.config)

    def compute(self, round_: int) -> None:
        """Compute one round and write it whole."""
        started = time.perf_counter()
        self._clock.start_round(round_)
        proposal = self._proposal(round_)
        network = Network(self._problem, proposal.masks, self._theta0)
        result = self._train(round_, network, retrain_schedule(self._problem.config), "retrain")
        record = self._record(round_, proposal.masks, result, time.perf_counter() - started)
        weights = {name: result.best_tensors[f"theta/{name}"] for name in self._theta0}
        self._seed_run.write_round(record, proposal.masks, weights, proposal.edge_scores)

    def _proposal(self, round_: int) -> Proposal:
        if round_ == 0:
            return Proposal(self._problem.full_masks())
        previous = self._seed_run.masks(round_ - 1)
        proposal = self._method.next_masks(self._context(round_, previous))
        if self._method.nests(self._problem.config) and not proposal.masks.within(previous):
            raise ValueError(f"{self._method.name} promises nested masks, but round {round_} is not nested")
        return proposal

    def _context(self, round_: int, previous: Masks) -> RoundContext:
        def train_stage(network: Network, schedule: Schedule, stage: str) -> TrainResult:
            return self._train(round_, network, schedule, stage)

        options = options_of(self._problem.config.options, self._method.Options)
        return RoundContext(
            self._problem,
            self._seed_run.seed,
            round_,
            self._theta0,
            previous,
            options,
            train_stage,
            self._pulse(round_),
            Store.around(self._seed_run).find,
        )

    def _train(self, round_: int, network: Network, schedule: Schedule, stage: str) -> TrainResult:
        def on_epoch(result: EpochResult) -> None:
            val, test = result.scores.val, result.scores.test
            event = Event(round=round_, stage=stage, epoch=result.epoch, loss=result.loss, val=val, test=test)
            self._seed_run.append_event(event)
            self._clock.epochs_done += 1
            self._report(round_, stage, result.epoch + 1, schedule.epochs)

        return train(network, schedule, stream(self._seed_run.seed, round_, stage), on_epoch)

    def _pulse(self, round_: int) -> Callable[[str, int, int], None]:
        return lambda stage, step, steps: self._report(round_, stage, step, steps)

    def _report(self, round_: int, stage: str, epoch: int, epochs: int) -> None:
        fraction, left = self._clock.estimate()
        rounds = self._problem.config.rounds
        progress = Progress(
            round=round_,
            rounds=rounds,
            stage=stage,
            epoch=epoch,
            epochs=epochs,
            fraction=fraction,
            seconds_left=left,
        )
        self._observer.on_progress(progress)
        if self._observer.should_stop():
            raise Stopped

    def _record(self, round_: int, masks: Masks, result: TrainResult, seconds: float) -> RoundRecord:
        return RoundRecord.of(
            round_,
            masks,
            val=result.best.val,
            test=result.best.test,
            test_last=result.last.test,
            best_epoch=result.best_epoch,
            seconds=round(seconds, 3),
            macs=macs(self._problem.config, self._problem.graph, masks).totals,
        )


class _Clock:
    """Share of a seed's epochs that is done, and the time left at the pace of this process."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._started = time.perf_counter()
        self._first_epoch: int | None = None
        self.epochs_done = 0

    def start_round(self, round_: int) -> None:
        """Count the epochs of whole rounds before this one as done."""
        self.epochs_done = epochs_before(self._config, round_)
        if self._first_epoch is None:
            self._first_epoch = self.epochs_done

    def estimate(self) -> tuple[float, float | None]:
        """Return the fraction done and the seconds left, None before anything was timed."""
        total = epochs_before(self._config, self._config.rounds + 1)
        timed = self.epochs_done - (self._first_epoch or 0)
        pace = (time.perf_counter() - self._started) / timed if timed else None
        left = None if pace is None else round(pace * (total - self.epochs_done), 1)
        return min(self.epochs_done / total, 1.0), left


def epochs_before(config: RunConfig, round_: int) -> int:
    """Return how many epochs all rounds before `round_` train, searches included."""
    if round_ == 0:
        return 0
    search = METHODS.get(config.method).search_epochs(config)
    return round_ * config.retrain_epochs + (round_ - 1) * search


def retrain_schedule(config: RunConfig) -> Schedule:
    """Return the schedule of training under binary masks."""
    return Schedule(config.retrain_epochs, config.learning_rate, config.weight_decay)
