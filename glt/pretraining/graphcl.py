"""GraphCL for nodes (You et al. 2020), in the form of Deep Graph Infomax (Velickovic et al. 2019).

`pretrain` trains the objective `GraphCL` until its loss stops falling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, prelu

from glt.datasets.graph import Graph
from glt.errors import DataError
from glt.masks import EdgeMask
from glt.models import TensorSpec, initial_weights, weight_name
from glt.pretraining.augmentations import AUGMENTATIONS, View
from glt.pretraining.config import PretrainConfig
from glt.seeds import stream
from glt.sparse import Adjacency, GraphOperator, features_of

ENCODER, DISCRIMINATOR, SLOPE = weight_name(0), "discriminator", "slope"
FIRST_SLOPE = 0.25


class GraphCL:
    """Contrasts nodes with feature-shuffled nodes, by summaries of two views.

    h = PReLU(A^ X W) with A^ = D^-1/2 (A + I) D^-1/2; s_v = sigmoid(mean h over the members of view v); a node's score
    is h' M s_1 + h' M s_2. There are no biases, as in the networks that W is for.
    """

    def __init__(
        self,
        graph: Graph,
        views: tuple[View, View],
        start: Mapping[str, NDArray[np.float32]],
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self._features = features_of(graph, device, dtype)
        self._adjacency = _normalised(graph, device, dtype)
        self._views = [_BoundView(graph, view, device, dtype) for view in views]
        tensors = {name: torch.from_numpy(value.copy()).to(device, dtype) for name, value in start.items()}
        self.tensors = {name: tensor.requires_grad_() for name, tensor in tensors.items()}

    def loss(self, order: Tensor) -> Tensor:
        """Return the binary cross-entropy of real nodes against nodes with features of order[i]."""
        slope = self.tensors[SLOPE]
        rows = self._features.times(self.tensors[ENCODER])
        summary = sum(view.summary(rows, slope) for view in self._views)
        direction = self.tensors[DISCRIMINATOR] @ summary
        nodes = (prelu(self._adjacency.propagate(each), slope) for each in (rows, rows[order]))
        scores = torch.cat([each @ direction for each in nodes])
        truth = torch.cat([torch.ones_like(scores[: order.numel()]), torch.zeros_like(scores[order.numel() :])])
        return binary_cross_entropy_with_logits(scores, truth)


class _BoundView:
    """A view's adjacency and node masks on a device."""

    def __init__(self, graph: Graph, view: View, device: str, dtype: torch.dtype) -> None:
        self._adjacency = _normalised(replace(graph, edges=view.edges), device, dtype)
        members, visible = view.members, view.visible
        self._members = None if members.all() else torch.from_numpy(np.flatnonzero(members)).to(device)
        self._visible = None if visible.all() else torch.from_numpy(visible).to(device, dtype)[:, None]

    def summary(self, rows: Tensor, slope: Tensor) -> Tensor:
        """Return s_v [H] from X W [N, H]."""
        hidden = prelu(self._adjacency.propagate(rows if self._visible is None else rows * self._visible), slope)
        return (hidden if self._members is None else hidden[self._members]).mean(dim=0).sigmoid()


def starting_tensors(features: int, hidden: int, generator: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """Draw W, M and the slope; with a seed's stream "init", W is that seed's own first layer."""
    specs = [
        TensorSpec(ENCODER, (features, hidden), False),
        TensorSpec(DISCRIMINATOR, (hidden, hidden), False),
        TensorSpec(SLOPE, (1,), False, start=FIRST_SLOPE),
    ]
    return initial_weights(specs, generator)


def _normalised(graph: Graph, device: str, dtype: torch.dtype) -> Adjacency:
    mask = EdgeMask.full("undirected", graph.num_edges)
    return GraphOperator(graph, mask, device, dtype).normalised(None, "source")


@dataclass(frozen=True, eq=False)
class Pretrained:
    """The first layer's weight [F, H] at the epoch of lowest loss; that epoch, and the epochs run."""

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
    """Train on the message `graph`; `on_epoch(epoch, loss)` may raise to stop.

    Ends after `patience` epochs without a lower loss. Equal arguments give equal bits. Raises DataError if the graph
    has too little to augment or the loss is not finite.
    """
    start = starting_tensors(graph.num_features, config.hidden, stream(seed, 0, "init"))
    objective = GraphCL(graph, drawn_views(graph, config, seed), start, device)
    optimiser = torch.optim.Adam(objective.tensors.values(), lr=config.learning_rate, fused=True)
    shuffle = stream(seed, 0, "shuffle")
    best_epoch, best, weight = 0, math.inf, objective.tensors[ENCODER].detach()
    epoch = -1
    for epoch in range(config.epochs):
        loss = objective.loss(torch.from_numpy(shuffle.permutation(graph.num_nodes)).to(device))
        value = float(loss.detach())
        if not math.isfinite(value):
            raise DataError(f"The pre-training loss is {value} in epoch {epoch}: lower learning_rate.")
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
