"""The training loop of search and retraining: Adam steps, scores, best epoch.

A `Stage` runs a network through a `Schedule`; between epochs it has a state that another one can resume from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glt.sparse import Dropout
from glt.training.adam import Adam
from glt.training.batching import passes_of
from glt.training.early_bird import EarlyBird
from glt.training.network import EDGES, Narrowing, Network
from glt.training.problem import Mismatch, StageState, generator_words, named, part, restore_generator, under
from glt.training.rule import Rule
from glt.training.tasks import Scores, TrainingPass

BEST, LAST = "best", "last"
# Masks have reached zero when at least this share of them is at or below 0.
HALF = 0.5


@dataclass(frozen=True)
class Schedule:
    """Epochs, step sizes and penalties; mask fields matter only in a search.

    `edge_learning_rate` is the step size of edge masks, if it differs from that of weight masks. With a `narrowing`, a
    search prunes after each epoch; `stop` can end it before its last epoch. A `rule` belongs to one stage, and so does
    `stop`.
    """

    epochs: int
    learning_rate: float
    weight_decay: float
    mask_learning_rate: float = 0.0
    mask_weight_decay: float = 0.0
    gamma_graph: float = 0.0
    gamma_weight: float = 0.0
    narrowing: Narrowing | None = None
    rule: Rule | None = None
    stop: EarlyBird | None = None
    edge_learning_rate: float | None = None


@dataclass(frozen=True)
class EpochResult:
    """An epoch's training loss, without penalties, and the scores after its steps."""

    epoch: int
    loss: float
    scores: Scores


@dataclass(frozen=True, eq=False)
class TrainResult:
    """Scores and tensors of the best-validation epoch (first strict maximum) and of the last.

    By kind of soft mask (edges, weights): `last_at_zero` is the share at or below zero at the end, `zero_from` the
    first epoch after which it was at least half.
    """

    best_epoch: int
    best: Scores
    best_tensors: dict[str, NDArray[np.float32]]
    last: Scores
    last_tensors: dict[str, NDArray[np.float32]]
    last_epoch: int
    last_at_zero: dict[str, float] = field(default_factory=dict)
    zero_from: dict[str, int] = field(default_factory=dict)


class Stage:
    """The training of one network; its `state` between epochs is all that later epochs depend on."""

    def __init__(self, network: Network, schedule: Schedule, generator: np.random.Generator) -> None:
        self._network = network
        self._schedule = schedule
        self._generator = generator
        groups = [(list(network.theta.values()), schedule.learning_rate, schedule.weight_decay)]
        if network.soft:
            masks, usual = network.soft.named(), schedule.mask_learning_rate
            if schedule.edge_learning_rate is not None and EDGES in masks:
                groups.append(([masks.pop(EDGES)], schedule.edge_learning_rate, schedule.mask_weight_decay))
            groups.append((list(masks.values()), usual, schedule.mask_weight_decay))
        self._adam = Adam(network.trainable(), groups)
        self._done = 0
        self._best_epoch = -1
        self._scores: dict[str, Scores] = {}
        self._best_tensors: dict[str, Tensor] = {}
        self._zero_from: dict[str, int] = {}

    @property
    def is_over(self) -> bool:
        """Whether no epoch is left."""
        stop = self._schedule.stop
        return self._done >= self._schedule.epochs or (stop is not None and stop.is_met)

    def run(self, on_epoch: Callable[[EpochResult], None]) -> TrainResult:
        """Train the remaining epochs and return the results of all.

        `on_epoch` is called after each epoch and may raise to stop.
        """
        if not self.is_over:
            self._train(on_epoch)
        return TrainResult(
            best_epoch=self._best_epoch,
            best=self._scores[BEST],
            best_tensors=_arrays(self._best_tensors),
            last=self._scores[LAST],
            last_tensors=_arrays(self._network.snapshot()),
            last_epoch=self._done - 1,
            last_at_zero=self._network.shares_at_zero(),
            zero_from=self._zero_from,
        )

    def _train(self, on_epoch: Callable[[EpochResult], None]) -> None:
        dropout = Dropout(self._network.problem.config.dropout, self._generator)
        # Passes read the tensors when created, so a state must be restored before.
        narrowing, rule = self._schedule.narrowing, self._schedule.rule
        passes = passes_of(self._network, rule is not None and rule.reads_all_outputs)
        while not self.is_over:
            loss = passes.epoch(dropout, self._generator, self._optimise)
            if narrowing:
                self._network.narrow(*narrowing.after(self._done + 1, self._schedule.epochs))
                passes.refresh()
            if rule and rule.after_epoch(self._network, self._done):
                passes.refresh()
            on_epoch(self._note(EpochResult(self._done, loss, passes.evaluate())))

    def state(self) -> StageState:
        """Return all that the remaining epochs depend on."""
        scores = {f"scores/{which}": np.array([each.val, each.test]) for which, each in self._scores.items()}
        arrays = {
            **named("tensors", _arrays(self._network.state())),
            **named("alive", self._network.alive.state() if self._network.alive else {}),
            **named("adam", self._adam.state()),
            **named("best", _arrays(self._best_tensors)),
            **named("rule", self._schedule.rule.state() if self._schedule.rule else {}),
            **named("stop", self._schedule.stop.state() if self._schedule.stop else {}),
            **scores,
        }
        about: dict[str, Any] = {
            "done": self._done,
            "best_epoch": self._best_epoch,
            "generator": generator_words(self._generator),
            "zero_from": dict(self._zero_from),
        }
        return StageState(arrays, about)

    def restore(self, state: StageState) -> None:
        """Resume from `state`; raise Mismatch if it is of another network."""
        about, arrays = state.about, state.arrays
        done, best_epoch = about.get("done"), about.get("best_epoch")
        if not (isinstance(done, int) and isinstance(best_epoch, int) and 0 <= best_epoch < done):
            raise Mismatch(f"{done} epochs are done, but the best one is {best_epoch}")
        if done > self._schedule.epochs:
            raise Mismatch(f"{done} epochs are done of {self._schedule.epochs}")
        self._network.restore(under("tensors", arrays))
        if self._network.alive:
            self._network.alive.restore(under("alive", arrays))
        self._adam.restore(under("adam", arrays))
        self._best_tensors = self._network.fitting(under("best", arrays))
        if self._schedule.rule:
            self._schedule.rule.restore(under("rule", arrays))
        if self._schedule.stop:
            self._schedule.stop.restore(under("stop", arrays))
        for which in (BEST, LAST):
            val, test = part(f"scores/{which}", (2,), arrays, np.float64)
            self._scores[which] = Scores(float(val), float(test))
        restore_generator(self._generator, about.get("generator"))
        self._done, self._best_epoch = done, best_epoch
        # Older states have none.
        zero_from = about.get("zero_from", {})
        if not (isinstance(zero_from, Mapping) and all(isinstance(epoch, int) for epoch in zero_from.values())):
            raise Mismatch(f"zero_from is {zero_from}")
        self._zero_from = {str(kind): epoch for kind, epoch in zero_from.items()}

    def _optimise(self, loss: Tensor, step: TrainingPass) -> None:
        network, rule = self._network, self._schedule.rule
        self._adam.clear()
        terms = rule.terms(step, network) if rule else None
        (loss if terms is None else loss + terms).backward()  # type: ignore[no-untyped-call]
        if rule:
            rule.before_step(network, self._done)
        network.add_penalty_gradient(self._schedule.gamma_graph, self._schedule.gamma_weight)
        self._adam.step()
        if rule:
            rule.after_step(network)

    def _note(self, result: EpochResult) -> EpochResult:
        self._done += 1
        self._scores[LAST] = result.scores
        if self._schedule.stop:
            self._schedule.stop.compare(self._network)
        for kind in self._network.have_reached_zero(HALF, known=self._zero_from):
            self._zero_from[kind] = result.epoch
        if self._best_epoch < 0 or result.scores.val > self._scores[BEST].val:
            self._best_epoch, self._scores[BEST] = result.epoch, result.scores
            self._best_tensors = self._network.snapshot()
            if self._schedule.rule:
                self._schedule.rule.on_best()
        return result


def _arrays(tensors: Mapping[str, Tensor]) -> dict[str, NDArray[np.float32]]:
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}
