"""An epoch's steps and its evaluation, for a network that sees its whole graph at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from glt.sparse import Dropout
from glt.training.network import Network
from glt.training.tasks import Scores

Optimise = Callable[[Tensor], None]


class Passes(ABC):
    """The way a stage runs its network: as steps that each end in `optimise(loss)`, and to be scored.

    Nothing outlives an epoch but the network's tensors, so that a stage can go on from those.
    """

    @abstractmethod
    def epoch(self, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        """Run an epoch's steps and return the mean training loss, penalties left out."""

    @abstractmethod
    def evaluate(self) -> Scores:
        """Return validation and test score of the tensors as they are now."""

    def refresh(self) -> None:
        """Take note that the network was changed between two epochs."""
        return


class FullBatch(Passes):
    """Every step on the whole graph.

    The stem computed to evaluate after one step is the very one the next step trains on, so it is computed once.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self.refresh()

    def epoch(self, dropout: Dropout, generator: np.random.Generator, optimise: Optimise) -> float:
        """Run one step, or as many as the task cuts an epoch into."""
        task, losses = self._network.problem.task, []
        for batch in task.batches(generator):
            loss = task.loss(self._network.step(self._stem, self._weights, dropout, generator, batch))
            optimise(loss)
            losses.append(float(loss.detach()))
            self.refresh()
        return sum(losses) / len(losses)

    @torch.no_grad()
    def evaluate(self) -> Scores:
        """Return the scores of the stem at hand."""
        output = self._network.head(self._stem, self._weights, Dropout(0, None))
        return self._network.problem.task.scores(output, self._weights)

    def refresh(self) -> None:
        """Compute the stem anew."""
        self._weights = self._network.effective_weights()
        self._stem = self._network.stem(self._weights)
