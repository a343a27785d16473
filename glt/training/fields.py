"""Passes on receptive fields: steps compute what training nodes depend on, evaluation what scored nodes do."""

from __future__ import annotations

import numpy as np
import torch

from glt.data.graph import IntArray
from glt.models.base import LARGEST_FIELD
from glt.sparse import Dropout
from glt.training.network import Network, View
from glt.training.passes import Optimise, Passes
from glt.training.tasks import Scores


class FieldBatch(Passes):
    """One step an epoch, on the training nodes' field; scores come of the field of all nodes with a part in the split.

    The wide product of features and first weights is computed once for an evaluation and the step after it.
    """

    def __init__(self, network: Network, reads: tuple[IntArray, IntArray], depth: int) -> None:
        self._network = network
        everyone = np.union1d(*reads)
        trained, scored = (network.operator.towards(nodes, depth) for nodes in (reads[0], everyone))
        inputs = scored.inputs()
        features = network.problem.features.cut(inputs)
        own = features.within(np.searchsorted(inputs, trained.inputs()))
        self._scored = View(scored, features, network.nodes(everyone))
        self._trained = View(trained, own, network.nodes(reads[0]))
        self.refresh()
        # The first step then finds the product that every later one finds, at the start of a stage or within it.
        with torch.no_grad():
            network.stem(self._weights, self._scored)

    def epoch(self, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        """Run the epoch's step."""
        network, weights = self._network, self._weights
        stem = network.stem(weights, self._trained)
        loss = network.problem.task.loss(network.step(stem, weights, dropout, generator, view=self._trained))
        optimise(loss)
        self.refresh()
        return float(loss.detach())

    @torch.no_grad()
    def evaluate(self) -> Scores:
        """Return the scores; nodes without a part in the split have zeros for an output."""
        network, view = self._network, self._scored
        assert view.nodes is not None
        output = network.head(network.stem(self._weights, view), self._weights, Dropout(0, None))
        whole = output.new_zeros(network.operator.num_nodes, output.shape[1])
        return network.problem.task.scores(whole.index_copy(0, view.nodes, output), self._weights)

    def refresh(self) -> None:
        """Take the weights anew."""
        self._weights = self._network.effective_weights()


def field_batch(network: Network) -> FieldBatch | None:
    """Return a network's passes on fields; None where its task or model needs all nodes, or a field is too large."""
    problem = network.problem
    reads, depth = problem.task.reads(), problem.model.messages(problem.config)
    if reads is None or depth is None or not all(nodes.size for nodes in reads):
        return None
    if network.operator.share_towards(reads[0], depth) > LARGEST_FIELD:
        return None
    return FieldBatch(network, reads, depth)
