"""Links told by a network on the product of two rows, as the authors train ogbl-collab."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear, logsigmoid

from glt.data.graph import IntArray
from glt.sparse import row_products
from glt.training.link_objectives import LinkObjective, some_at_a_time
from glt.training.tasks.base import TrainingPass
from glt.training.tasks.link import predictor_names

EDGES_A_STEP = 65_536


class Hadamard(LinkObjective):
    """Binary cross-entropy of an MLP on h_i * h_j, for training edges and as many pairs of nodes drawn uniformly.

    A drawn pair may be an edge, or twice the same node. An epoch goes once through all edges, in a new order, a batch
    a step; positives and negatives have a mean each, and the loss is their sum.
    """

    def __init__(self, edges: IntArray, nodes: int, device: str) -> None:
        self._edges = edges
        self._nodes = nodes
        self._device = device

    def batches(self, generator: np.random.Generator) -> Iterator[IntArray]:
        """Yield an epoch's batches of training edges [2, .]."""
        order = generator.permutation(self._edges.shape[1])
        for start in range(0, order.size, EDGES_A_STEP):
            yield self._edges[:, order[start : start + EDGES_A_STEP]]

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the loss of a batch, or of the first of an epoch where none is named."""
        edges = next(self.batches(step.generator)) if step.batch is None else step.batch
        drawn = step.generator.integers(0, self._nodes, edges.shape)
        pairs = torch.from_numpy(np.concatenate([edges, drawn], axis=1)).to(self._device)
        logits = pair_logits(step.output, step.weights, pairs)
        count = edges.shape[1]
        return -logsigmoid(logits[:count]).mean() - logsigmoid(-logits[count:]).mean()

    def scores(self, output: Tensor, weights: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
        """Return the logits of pairs."""
        return some_at_a_time(lambda some: pair_logits(output, weights, some), pairs)


def pair_logits(rows: Tensor, weights: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
    """Return the logit [n] of each pair [2, n] of rows [N, H]: linear, ReLU, linear, ReLU, linear on their product."""
    hidden = row_products(rows, pairs)
    (first, *others) = predictor_names()
    hidden = _affine(hidden, first, weights)
    for name in others:
        hidden = _affine(torch.relu(hidden), name, weights)
    return hidden.squeeze(1)


def _affine(hidden: Tensor, name: str, weights: Mapping[str, Tensor]) -> Tensor:
    return linear(hidden, weights[f"{name}.weight"].t(), weights[f"{name}.bias"])
