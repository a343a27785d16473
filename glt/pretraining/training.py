"""Training the encoder until its loss stops falling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from glt.data.graph import Graph
from glt.errors import DataError
from glt.pretraining.augmentations import AUGMENTATIONS, View
from glt.pretraining.config import PretrainConfig
from glt.pretraining.objective import ENCODER, GraphCL, starting_tensors
from glt.randomness import stream


@dataclass(frozen=True, eq=False)
class Pretrained:
    """The first layer's weight [F, H] at the epoch of the lowest loss, that epoch, and how many there were."""

    weight: NDArray[np.float32]
    best_epoch: int
    epochs: int
    loss: float


def pretrain(
    graph: Graph,
    config: PretrainConfig,
    seed: int,
    on_epoch: Callable[[int, float], None],
    device: str = "cpu",
) -> Pretrained:
    """Train on `graph`, the one that carries messages, calling `on_epoch` with epoch and loss (it may raise to stop).

    It ends after `patience` epochs without a lower loss. Equal arguments give equal bits. Raises DataError when the
    graph has too little to augment or the loss is not finite.
    """
    start = starting_tensors(graph.num_features, config.hidden, stream(seed, 0, "init"))
    objective = GraphCL(graph, drawn_views(graph, config, seed), start, device)
    optimiser = torch.optim.Adam(objective.tensors.values(), lr=config.learning_rate, fused=True)
    shuffle = stream(seed, 0, "shuffle")
    best_epoch, best, weight = 0, math.inf, objective.tensors[ENCODER].detach()
    epoch = -1
    for epoch in range(config.epochs):
        loss = objective.loss(torch.from_numpy(shuffle.permutation(graph.num_nodes)).to(device))
        value = _finite(float(loss.detach()), epoch)
        on_epoch(epoch, value)
        if value < best:
            best_epoch, best, weight = epoch, value, objective.tensors[ENCODER].detach().clone()
        elif epoch - best_epoch >= config.patience:
            break
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return Pretrained(weight.cpu().numpy(), best_epoch, epoch + 1, best)


def drawn_views(graph: Graph, config: PretrainConfig, seed: int) -> tuple[View, View]:
    """Draw the two views of a seed, once for all epochs."""
    draw = AUGMENTATIONS.get(config.augmentation).view
    first, second = (draw(graph, config.share, stream(seed, 0, f"view {number}")) for number in (1, 2))
    return first, second


def _finite(loss: float, epoch: int) -> float:
    if not math.isfinite(loss):
        raise DataError(f"The loss of pre-training became {loss} in epoch {epoch}: lower learning_rate.")
    return loss
