"""Node classification: cross-entropy on labelled nodes, accuracy on validation and test nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from glt.config import RunConfig
from glt.data.graph import Graph
from glt.training.tasks import TASKS
from glt.training.tasks.base import BoundTask, Scores, Task, TrainingPass

if TYPE_CHECKING:
    from torch import Tensor


class NodeClassification(BoundTask):
    """Cross-entropy (paper, equation 2) and accuracy on the graph's own split."""

    def __init__(self, graph: Graph, device: str) -> None:
        import torch

        self._labels = torch.from_numpy(graph.labels).to(device)
        split = (graph.split.train, graph.split.val, graph.split.test)
        self._train, self._val, self._test = (torch.from_numpy(nodes).to(device) for nodes in split)

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the mean cross-entropy over training nodes of logits [N, C]."""
        from torch.nn.functional import cross_entropy

        output, nodes = step.among(self._train)
        # A cluster may hold no training node, and the mean over none is not a number.
        return cross_entropy(output, self._labels[nodes]) if nodes.numel() else output.sum()

    def scores(self, output: Tensor, weights: Mapping[str, Tensor]) -> Scores:
        """Return validation and test accuracy of logits [N, C]."""
        correct = output.argmax(dim=1) == self._labels
        return Scores(self._share(correct[self._val]), self._share(correct[self._test]))

    @staticmethod
    def _share(correct: Tensor) -> float:
        return int(correct.sum()) / correct.numel()


class NodeTask(Task):
    """Classes of nodes in one graph that is known as a whole (transductive)."""

    name = "node"
    label = "Node classification"
    description = "Predict the class of each node from a few labelled ones."
    metric = "accuracy"

    def outputs(self, classes: int, config: RunConfig) -> int:
        """One output a class."""
        return classes

    def bind(self, graph: Graph, config: RunConfig, device: str) -> BoundTask:
        """Tie the task to the graph's labels and split."""
        return NodeClassification(graph, device)


TASKS.register(NodeTask())
