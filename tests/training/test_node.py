"""The node task: the evaluator's accuracy is our own, binary tasks against a dense formulation, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from glt.config import RunConfig
from glt.datasets import DATASETS, Graph
from glt.datasets.graph import Split
from glt.errors import DataError
from glt.training.tasks import TASKS, Scores, TrainingPass, metric_of

pytestmark = pytest.mark.usefixtures("benchmark_sets")
NODE = TASKS.get("node")
TARGETS = 112


def with_targets(graph: Graph, targets: np.ndarray) -> Graph:
    """The same graph with species for labels, as ogbn-proteins has them; nodes 0-1, 2-3 and 4-5 are the split."""
    nodes = np.arange(6)
    split = Split(nodes[:2], nodes[2:4], nodes[4:])
    return replace(graph, targets=targets, labels=np.array([0, 0, 3, 3, 7, 7]), split=split)


@pytest.fixture
def graph(small_graph: Graph) -> Graph:
    """Every task has one positive and one negative in each part."""
    generator = np.random.default_rng(0)
    targets = np.concatenate([generator.permuted([[0] * TARGETS, [1] * TARGETS], axis=0) for _ in range(3)])
    return with_targets(small_graph, targets.astype(np.uint8))


def test_accuracy_by_the_evaluator_is_our_own(small_graph: Graph) -> None:
    generator = np.random.default_rng(0)
    nodes = generator.permutation(300)
    features = small_graph.features[generator.integers(0, 6, 300)]
    labels = generator.integers(0, 3, 300)
    graph = replace(small_graph, features=features, labels=labels, split=Split(*np.split(nodes, [90, 180])))
    output = torch.from_numpy(generator.normal(size=(300, 3)))
    ours, theirs = (
        NODE.bind(graph, RunConfig(dataset=name), "cpu").scores(output, {}) for name in ("cora", "ogbn-arxiv")
    )
    assert ours == theirs
    right = output.numpy().argmax(axis=1) == labels
    assert ours == Scores(right[graph.split.val].mean(), right[graph.split.test].mean())


def test_binary_tasks_are_trained_by_cross_entropy_on_training_nodes_alone(graph: Graph) -> None:
    output = torch.randn(6, TARGETS, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    task = NODE.bind(graph, RunConfig(dataset="ogbn-proteins"), "cpu")
    loss = task.loss(TrainingPass(output.float(), {}, np.random.default_rng(0), lambda order: order))
    share = torch.sigmoid(output[:2])
    truth = torch.from_numpy(graph.targets[:2].astype(bool))
    expected = -torch.log(torch.where(truth, share, 1 - share)).mean()
    torch.testing.assert_close(loss.double(), expected, atol=1e-6, rtol=1e-6)
    (gradient,) = torch.autograd.grad(loss, output)
    assert gradient[:2].all()
    assert not gradient[2:].any()


def test_binary_tasks_are_scored_by_their_mean_roc_auc(graph: Graph) -> None:
    """Of two nodes a part, the positive one is scored higher in every task of validation, in a quarter of test's."""
    output = torch.from_numpy(graph.targets.astype(np.float32) * 2 - 1)
    output[4:, TARGETS // 4 :] *= -1
    assert NODE.bind(graph, RunConfig(dataset="ogbn-proteins"), "cpu").scores(output, {}) == Scores(1.0, 0.25)


def test_labels_do_not_matter_where_there_are_targets(graph: Graph) -> None:
    other = replace(graph, labels=np.full(6, -1))
    output = torch.randn(6, TARGETS, generator=torch.Generator().manual_seed(1))
    tasks = [NODE.bind(one, RunConfig(dataset="ogbn-proteins"), "cpu") for one in (graph, other)]
    assert tasks[0].scores(output, {}) == tasks[1].scores(output, {})
    assert graph.sizes.outputs == other.sizes.outputs == TARGETS


def test_outputs_that_are_no_numbers_are_said_so(graph: Graph) -> None:
    with pytest.raises(DataError, match="lower learning_rate"):
        NODE.bind(graph, RunConfig(dataset="ogbn-proteins"), "cpu").scores(torch.full((6, TARGETS), torch.nan), {})


def test_targets_without_a_positive_in_a_part_are_refused_at_once(graph: Graph) -> None:
    assert graph.targets is not None
    targets = graph.targets.copy()
    targets[4:] = 0
    with pytest.raises(DataError, match="no task with both a positive and a negative among its 2 test nodes"):
        NODE.bind(replace(graph, targets=targets), RunConfig(dataset="ogbn-proteins"), "cpu")


def test_targets_without_an_evaluator_are_refused(graph: Graph) -> None:
    with pytest.raises(DataError, match="small has binary targets"):
        NODE.bind(graph, RunConfig(), "cpu")


def test_the_score_has_the_name_of_the_data_set() -> None:
    assert metric_of("ogbn-arxiv", "node") == metric_of("cora", "node") == "accuracy"
    assert metric_of("ogbn-proteins", "node") == "ROC-AUC"
    assert NODE.metric_on(DATASETS.get("ogbn-proteins")) == "ROC-AUC"
