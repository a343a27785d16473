"""The one training loop: Adam, validation and test every epoch, the best-validation epoch kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glt.sparse import Dropout
from glt.training.clusters import ClusterBatch
from glt.training.narrowing import Narrowing
from glt.training.network import Network
from glt.training.passes import FullBatch, Passes
from glt.training.tasks import Scores


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train; the mask fields count only where masks are trained.

    With a `narrowing`, a search removes a slice of what is left after the steps of each epoch.
    """

    epochs: int
    learning_rate: float
    weight_decay: float
    mask_learning_rate: float = 0.0
    mask_weight_decay: float = 0.0
    gamma_graph: float = 0.0
    gamma_weight: float = 0.0
    narrowing: Narrowing | None = None


@dataclass(frozen=True)
class EpochResult:
    """What one epoch gave: the task's training loss (penalties left out) and the scores after its step."""

    epoch: int
    loss: float
    scores: Scores


@dataclass(frozen=True, eq=False)
class TrainResult:
    """The best-validation epoch (first strict maximum), its tensors, and the last epoch's."""

    best_epoch: int
    best: Scores
    best_tensors: dict[str, NDArray[np.float32]]
    last: Scores
    last_tensors: dict[str, NDArray[np.float32]]


def train(
    network: Network,
    schedule: Schedule,
    generator: np.random.Generator,
    on_epoch: Callable[[EpochResult], None],
) -> TrainResult:
    """Train `network` for `schedule.epochs` epochs, calling `on_epoch` after each (it may raise to stop)."""
    optimiser = _optimiser(network, schedule)

    def optimise(loss: Tensor) -> None:
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        network.add_penalty_gradient(schedule.gamma_graph, schedule.gamma_weight)
        optimiser.step()

    dropout = Dropout(network.problem.config.dropout, generator)
    passes = passes_of(network)
    best: EpochResult | None = None
    for epoch in range(schedule.epochs):
        loss = passes.epoch(dropout, generator, optimise)
        if schedule.narrowing:
            network.narrow(*schedule.narrowing.after(epoch + 1, schedule.epochs))
            passes.refresh()
        result = EpochResult(epoch, loss, passes.evaluate())
        if best is None or result.scores.val > best.scores.val:
            best, best_tensors = result, network.snapshot()
        on_epoch(result)
    assert best is not None
    last_tensors = _arrays(network.snapshot())
    return TrainResult(best.epoch, best.scores, _arrays(best_tensors), result.scores, last_tensors)


def passes_of(network: Network) -> Passes:
    """Return the way a network is run: on its whole graph, or in clusters where its model asks for them."""
    clusters = network.problem.model.clusters(network.problem.config)
    return FullBatch(network) if clusters is None else ClusterBatch(network, clusters)


def _optimiser(network: Network, schedule: Schedule) -> torch.optim.Adam:
    groups = [_group(list(network.theta.values()), schedule.learning_rate, schedule.weight_decay)]
    if network.soft:
        groups.append(_group(network.soft.parameters(), schedule.mask_learning_rate, schedule.mask_weight_decay))
    return torch.optim.Adam(groups, fused=True)


def _group(tensors: list[Tensor], learning_rate: float, weight_decay: float) -> dict[str, object]:
    return {"params": tensors, "lr": learning_rate, "weight_decay": weight_decay}


def _arrays(tensors: dict[str, Tensor]) -> dict[str, NDArray[np.float32]]:
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}
