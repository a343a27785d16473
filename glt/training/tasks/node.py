"""Nodes: cross-entropy on labelled nodes and accuracy, or binary tasks and their mean ROC-AUC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from glt.config import RunConfig
from glt.datasets.graph import Graph, IntArray, Split
from glt.datasets.registry import DatasetSpec
from glt.errors import DataError
from glt.training.metrics import Chance, accuracy_by_chance, auc_by_chance, evaluator_of, load_evaluator, node_score
from glt.training.tasks import TASKS
from glt.training.tasks.base import BoundTask, Scores, Task, TrainingPass

if TYPE_CHECKING:
    from torch import Tensor


class NodesOfSplit(BoundTask):
    """A task whose loss reads training nodes, and whose scores read validation and test nodes."""

    def __init__(self, graph: Graph, device: str, evaluator: str) -> None:
        import torch

        self._evaluator = evaluator
        self._split = graph.split
        self._train = torch.from_numpy(graph.split.train).to(device)

    def reads(self) -> tuple[IntArray, IntArray]:
        """Return the training nodes, then those of validation and test."""
        return _trained(self._split), np.union1d(self._split.val, self._split.test)


class NodeClassification(NodesOfSplit):
    """Cross-entropy (paper, equation 2) and accuracy on the graph's split, by ogb's `evaluator` if named."""

    def __init__(self, graph: Graph, device: str, evaluator: str = "") -> None:
        import torch

        super().__init__(graph, device, evaluator)
        self._labels = torch.from_numpy(graph.labels).to(device)
        self._val, self._test = (torch.from_numpy(nodes).to(device) for nodes in (graph.split.val, graph.split.test))

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the mean cross-entropy over training nodes of logits [N, C]."""
        from torch.nn.functional import cross_entropy

        output, nodes = step.among(self._train)
        # A cluster may have no training node, and the mean over none is NaN.
        return cross_entropy(output, self._labels[nodes]) if nodes.numel() else output.sum()

    def scores(self, output: Tensor, weights: Mapping[str, Tensor]) -> Scores:
        """Return validation and test accuracy of logits [N, C]."""
        predicted = output.argmax(dim=1)
        return Scores(self._accuracy(predicted, self._val), self._accuracy(predicted, self._test))

    def _accuracy(self, predicted: Tensor, nodes: Tensor) -> float:
        if self._evaluator:
            pair = [classes[nodes].cpu().numpy()[:, None] for classes in (self._labels, predicted)]
            return node_score(self._evaluator, *pair)
        correct = predicted[nodes] == self._labels[nodes]
        return int(correct.sum()) / correct.numel()


class BinaryTasks(NodesOfSplit):
    """T binary tasks: cross-entropy over training nodes, and their mean ROC-AUC by ogb's evaluator."""

    def __init__(self, graph: Graph, device: str, evaluator: str) -> None:
        import torch

        super().__init__(graph, device, evaluator)
        assert graph.targets is not None
        self._truth = torch.from_numpy(graph.targets).to(device)
        self._val, self._test = ((nodes, graph.targets[nodes]) for nodes in (graph.split.val, graph.split.test))

    def loss(self, step: TrainingPass) -> Tensor:
        """Return the mean binary cross-entropy of logits [N, T] over training nodes and tasks."""
        from torch.nn.functional import binary_cross_entropy_with_logits

        output, nodes = step.among(self._train)
        if not nodes.numel():
            return output.sum()
        return binary_cross_entropy_with_logits(output, self._truth[nodes].to(output.dtype))

    def scores(self, output: Tensor, weights: Mapping[str, Tensor]) -> Scores:
        """Return mean ROC-AUC of logits [N, T]; raise DataError if one is not finite."""
        logits = output.float().cpu().numpy()
        if not np.isfinite(logits).all():
            raise DataError("Outputs are no longer finite: lower learning_rate.")
        val, test = (node_score(self._evaluator, truth, logits[nodes]) for nodes, truth in (self._val, self._test))
        return Scores(val, test)


def _trained(split: Split) -> IntArray:
    return np.unique(split.train)


class NodeTask(Task):
    """Classes or binary properties of nodes in one graph, known as a whole (transductive)."""

    name = "node"
    label = "Node classification"
    description = "Predict the class of each node from a few labelled nodes."
    metric = "accuracy"
    trains_on_split = True

    def metric_on(self, spec: DatasetSpec) -> str:
        """Return accuracy, or ROC-AUC for a data set with binary tasks."""
        return "ROC-AUC" if spec.binary_tasks else self.metric

    def loss_nodes(self, graph: Graph) -> IntArray:
        """Return the training nodes."""
        return _trained(graph.split)

    def chance(self, graph: Graph, config: RunConfig) -> Chance | None:
        """Return the largest class's share of validation nodes; one half for binary tasks."""
        val = graph.split.val
        if graph.targets is None:
            return accuracy_by_chance(graph.labels[val])
        positives = graph.targets[val].sum(axis=0, dtype=np.int64)
        return auc_by_chance(positives, val.size - positives)

    def outputs(self, classes: int, config: RunConfig) -> int:
        """Return one output per class or binary task."""
        return classes

    def bind(self, graph: Graph, config: RunConfig, device: str) -> BoundTask:
        """Tie the task to the graph's labels or targets; raise DataError if it has no score."""
        evaluator = evaluator_of(config.dataset)
        load_evaluator("nodeproppred", evaluator)
        if graph.targets is None:
            return NodeClassification(graph, device, evaluator)
        _check_targets(graph, evaluator)
        return BinaryTasks(graph, device, evaluator)


def _check_targets(graph: Graph, evaluator: str) -> None:
    """Raise DataError for binary targets that cannot be scored."""
    if not evaluator:
        raise DataError(f"{graph.name} has binary targets, which need one of OGB's evaluators.")
    assert graph.targets is not None
    for name, nodes in (("validation", graph.split.val), ("test", graph.split.test)):
        positives = graph.targets[nodes].sum(axis=0, dtype=np.int64)
        if not ((positives > 0) & (positives < nodes.size)).any():
            raise DataError(
                f"{graph.name} has no task with a positive and a negative among its {nodes.size} {name} nodes, so "
                "ROC-AUC is undefined: use a larger part of the data set."
            )


TASKS.register(NodeTask())
