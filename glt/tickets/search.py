"""Algorithm 2: choose masks, rewind to theta_0, retrain, write the round; repeat. Every method shares this loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from glt.config import Note, RunConfig, options_of
from glt.cost.macs import macs
from glt.data import load_graph
from glt.masks import Masks
from glt.methods import METHODS, Proposal, RoundContext
from glt.randomness import stream
from glt.store import Checkpoint, Event, Progress, RoundRecord, SeedRun, Store
from glt.tickets.clock import Clock
from glt.tickets.diagnosis import diagnosed, readable_epochs, round_words
from glt.tickets.start import source_of, with_first_layer
from glt.tickets.unfinished import UnfinishedRound
from glt.training.loop import EpochResult, Schedule, Stage, TrainResult
from glt.training.network import Network
from glt.training.problem import Arrays, Problem
from glt.training.stage_state import Mismatch


class Stopped(Exception):
    """The observer asked to stop; everything up to the last epoch is on disk and a resume goes on after it."""


class Observer(Protocol):
    """Who watches a worker: told of progress, asked at every epoch whether to stop."""

    def on_progress(self, progress: Progress) -> None:
        """Take note of where the worker is."""

    def should_stop(self) -> bool:
        """Say whether to stop at this epoch."""


def find_tickets(seed_run: SeedRun, observer: Observer, device: str = "cpu") -> None:
    """Compute all rounds of one seed that are not on disk yet (paper, Algorithm 2).

    Resuming gives the bytes an uninterrupted run gives, because each stage of each round draws from a stream of its
    own and a round that is not whole goes on from everything its checkpoint tells, or starts again. Raises Stopped
    when the observer asks to stop.
    """
    next_round = seed_run.drop_unfinished()
    config = seed_run.config
    problem = Problem(config, load_graph(config.dataset), device)
    if next_round == 0 or not seed_run.has_theta0():
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
        self._clock = Clock(problem.config)

    def compute(self, round_: int) -> None:
        """Compute one round, or what is left of it, and write it whole."""
        saved = self._seed_run.checkpoint()
        try:
            self._compute(round_, saved)
        except Mismatch as error:
            self._seed_run.drop_checkpoint(f"{error}.")
            self._compute(round_)

    def _compute(self, round_: int, saved: Checkpoint | None = None) -> None:
        unfinished = UnfinishedRound(self._seed_run, round_, saved)
        self._clock.start_round(round_, unfinished.epochs)
        proposal = unfinished.propose(lambda: self._proposal(unfinished))
        if saved and not proposal.masks.alike(self._problem.full_masks()):
            raise Mismatch("its masks are of another network or graph")
        network = Network(self._problem, proposal.masks, self._theta0)
        result = self._train(unfinished, network, retrain_schedule(self._problem.config), "retrain")
        record = self._record(round_, proposal, result, unfinished.seconds)
        weights = {name: result.best_tensors[f"theta/{name}"] for name in self._theta0}
        self._seed_run.write_round(record, proposal.masks, weights, proposal.edge_scores)
        for sentence in round_words(record):
            self._seed_run.log(f"Round {round_}: {sentence}.")

    def _proposal(self, unfinished: UnfinishedRound) -> Proposal:
        round_ = unfinished.number
        if round_ == 0:
            return Proposal(self._problem.full_masks())
        previous = self._seed_run.masks(round_ - 1)
        proposal = self._method.next_masks(self._context(unfinished, previous))
        if self._method.nests(self._problem.config) and not proposal.masks.within(previous):
            raise ValueError(f"{self._method.name} promises nested masks, but round {round_} is not nested")
        return proposal

    def _context(self, unfinished: UnfinishedRound, previous: Masks) -> RoundContext:
        def train_stage(network: Network, schedule: Schedule, stage: str) -> TrainResult:
            return self._train(unfinished, network, schedule, stage)

        options = options_of(self._problem.config.options, self._method.Options)
        return RoundContext(
            self._problem,
            self._seed_run.seed,
            unfinished.number,
            self._theta0,
            previous,
            options,
            train_stage,
            self._pulse(unfinished),
            partial(Store.around(self._seed_run).find, asking=self._seed_run.path.parent.name),
        )

    def _train(self, unfinished: UnfinishedRound, network: Network, schedule: Schedule, name: str) -> TrainResult:
        round_ = unfinished.number

        def on_epoch(result: EpochResult) -> None:
            val, test = result.scores.val, result.scores.test
            event = Event(round=round_, stage=name, epoch=result.epoch, loss=result.loss, val=val, test=test)
            self._seed_run.append_event(event)
            unfinished.epochs += 1
            self._clock.epochs_done += 1
            self._report(unfinished, name, result.epoch + 1, schedule.epochs)

        stage = Stage(network, schedule, stream(self._seed_run.seed, round_, name))
        return unfinished.train(name, stage, on_epoch)

    def _pulse(self, unfinished: UnfinishedRound) -> Callable[[str, int, int], None]:
        return lambda stage, step, steps: self._report(unfinished, stage, step, steps)

    def _report(self, unfinished: UnfinishedRound, stage: str, epoch: int, epochs: int) -> None:
        fraction, left = self._clock.estimate()
        rounds = self._problem.config.rounds
        progress = Progress(
            round=unfinished.number,
            rounds=rounds,
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

    def _diagnosed(self, round_: int, masks: Masks) -> dict[str, Note]:
        """Return what the round's epochs and masks say of it; epochs of before a resume are in the store only."""
        edges = (self._seed_run.edge_mask(round_ - 1), masks.edges) if round_ else None
        problem = self._problem
        return diagnosed(problem.config, problem.whole, problem.graph, edges, readable_epochs(self._seed_run, round_))

    def _record(self, round_: int, proposal: Proposal, result: TrainResult, seconds: float) -> RoundRecord:
        return RoundRecord.of(
            round_,
            proposal.masks,
            val=result.best.val,
            test=result.best.test,
            test_last=result.last.test,
            best_epoch=result.best_epoch,
            seconds=round(seconds, 3),
            macs=macs(self._problem.config, self._problem.graph, proposal.masks).totals,
            notes={**proposal.notes, **self._diagnosed(round_, proposal.masks)},
        )


def retrain_schedule(config: RunConfig) -> Schedule:
    """Return the schedule of training under binary masks."""
    return Schedule(config.retrain_epochs, config.learning_rate, config.weight_decay)
