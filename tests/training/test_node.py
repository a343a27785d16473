"""The node task and the training loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from glt.config import RunConfig
from glt.datasets import Graph, load_graph
from glt.datasets.graph import Split
from glt.errors import DataError
from glt.masks import Masks
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import Dropout
from glt.training import trainer
from glt.training.batching import FullBatch
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.tasks import TASKS, Scores, TrainingPass
from glt.training.trainer import EpochResult, Schedule, Stage
from tests.training.conftest import pruned

pytestmark = pytest.mark.usefixtures("benchmark_sets")
NODE = TASKS.get("node")
TARGETS = 112


@pytest.fixture
def graph(small_graph: Graph) -> Graph:
    """The small graph as ogbn-proteins: species for labels, and in each part a positive and a negative of every task.

    Nodes 0-1, 2-3 and 4-5 are the split.
    """
    generator, nodes = np.random.default_rng(0), np.arange(6)
    targets = np.concatenate([generator.permuted([[0] * TARGETS, [1] * TARGETS], axis=0) for _ in range(3)])
    split = Split(nodes[:2], nodes[2:4], nodes[4:])
    return replace(small_graph, targets=targets.astype(np.uint8), labels=np.array([0, 0, 3, 3, 7, 7]), split=split)


def test_evaluator_accuracy_equals_own_accuracy(small_graph: Graph) -> None:
    generator = np.random.default_rng(0)
    nodes = generator.permutation(300)
    features = small_graph.features[generator.integers(0, 6, 300)]
    labels = generator.integers(0, 3, 300)
    graph = replace(small_graph, features=features, labels=labels, split=Split(*np.split(nodes, [90, 180])))
    output = torch.from_numpy(generator.normal(size=(300, 3)))
    found, expected = (
        NODE.bind(graph, RunConfig(dataset=name), "cpu").scores(output, {}) for name in ("cora", "ogbn-arxiv")
    )
    assert found == expected
    right = output.numpy().argmax(axis=1) == labels
    assert found == Scores(right[graph.split.val].mean(), right[graph.split.test].mean())


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


def test_binary_tasks_are_scored_by_mean_roc_auc(graph: Graph) -> None:
    """Of two nodes a part, the positive one is scored higher in every task of validation, in a quarter of test's."""
    output = torch.from_numpy(graph.targets.astype(np.float32) * 2 - 1)
    output[4:, TARGETS // 4 :] *= -1
    for known in (graph, replace(graph, labels=np.full(6, -1))):
        assert known.sizes.outputs == TARGETS
        task = NODE.bind(known, RunConfig(dataset="ogbn-proteins"), "cpu")
        assert task.scores(output, {}) == Scores(1.0, 0.25)
    with pytest.raises(DataError, match="lower learning_rate"):
        task.scores(torch.full((6, TARGETS), torch.nan), {})


def test_targets_that_cannot_be_scored_are_refused(graph: Graph) -> None:
    assert graph.targets is not None
    targets = graph.targets.copy()
    targets[4:] = 0
    with pytest.raises(DataError, match="no task with a positive and a negative among its 2 test nodes"):
        NODE.bind(replace(graph, targets=targets), RunConfig(dataset="ogbn-proteins"), "cpu")
    with pytest.raises(DataError, match="small has binary targets"):
        NODE.bind(graph, RunConfig(), "cpu")


SEARCH = Schedule(50, 0.01, 5e-4, 0.01, 5e-4, 1e-2, 1e-2)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem(resolve({"hidden": 16}), load_graph("cora"))


def network(problem: Problem, masks: Masks, soft: bool) -> Network:
    start = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "start"), "cpu") if soft else None
    return Network(problem, masks, problem.initial_weights(0), start)


@pytest.mark.parametrize("soft", [False, True])
def test_pruned_weights_stay_zero_and_seeds_are_reproducible(problem: Problem, soft: bool) -> None:
    masks = pruned(problem)
    result, again = (
        Stage(network(problem, masks, soft), SEARCH, stream(0, 1, "x")).run(lambda _: None) for _ in range(2)
    )
    for name, keep in masks.weights.keep.items():
        assert not result.last_tensors[f"theta/{name}"][~keep].any()
        assert np.count_nonzero(result.last_tensors[f"theta/{name}"][keep]) > 0.99 * keep.sum()
        if soft:
            assert not result.last_tensors[f"mask/{name}"][~keep].any()
    assert all(np.array_equal(tensor, again.last_tensors[name]) for name, tensor in result.last_tensors.items())


def test_soft_masks_start_within_the_noise(problem: Problem) -> None:
    masks = pruned(problem)
    soft = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "start"), "cpu")
    assert soft.edges.numel() == masks.edges.kept
    assert 0 < float((soft.edges.detach() - 1).abs().max()) <= 1.01e-5


def test_best_epoch_is_the_first_strict_maximum(problem: Problem) -> None:
    seen: list[EpochResult] = []
    net = network(problem, pruned(problem), soft=False)
    result = Stage(net, Schedule(30, 0.01, 5e-4), stream(0, 1, "x")).run(seen.append)
    validations = [epoch.scores.val for epoch in seen]
    assert result.best_epoch == int(np.argmax(validations))
    assert result.last == seen[-1].scores
    with torch.no_grad():
        for name, tensor in net.theta.items():
            tensor.copy_(torch.from_numpy(result.best_tensors[f"theta/{name}"]))
        weights = net.effective_weights()
        again = problem.task.scores(net.head(net.stem(weights), weights, Dropout(0, None)), weights)
    assert again == result.best


def test_penalty_gradient_is_that_of_the_l1_norms(problem: Problem) -> None:
    net = network(problem, pruned(problem), soft=True)
    assert net.soft is not None
    for mask in net.soft.named().values():
        mask.grad = torch.zeros_like(mask)
    net.add_penalty_gradient(0.3, 0.7)
    rates = [0.3] + [0.7] * len(net.soft.weights)
    norms = sum(rate * mask.abs().sum() for rate, mask in zip(rates, net.soft.named().values(), strict=True))
    expected = torch.autograd.grad(norms, net.soft.named().values())
    for mask, gradient in zip(net.soft.named().values(), expected, strict=True):
        assert mask.grad is not None
        torch.testing.assert_close(mask.grad, gradient)


def test_sharing_the_first_product_with_evaluation_changes_no_step(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two steps by hand, computing everything anew, equal two epochs of passes on the whole graph."""
    masks, schedule = problem.full_masks(), Schedule(2, 0.01, 5e-4)
    monkeypatch.setattr(trainer, "passes_of", lambda network, all_outputs: FullBatch(network))
    result = Stage(network(problem, masks, False), schedule, stream(0, 1, "x")).run(lambda _: None)
    generator = stream(0, 1, "x")
    net, dropout = network(problem, masks, False), Dropout(0.5, generator)
    optimiser = torch.optim.Adam(net.theta.values(), lr=0.01, weight_decay=5e-4, fused=True)
    for _ in range(2):
        weights = net.effective_weights()
        optimiser.zero_grad()
        problem.task.loss(net.step(net.stem(weights), weights, dropout, generator)).backward()
        optimiser.step()
    for name, tensor in net.theta.items():
        assert np.array_equal(tensor.detach().numpy(), result.last_tensors[f"theta/{name}"])
