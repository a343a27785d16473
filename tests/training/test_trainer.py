"""The training loop: zeros stay zero, the best epoch is kept, penalties are what they say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glt.datasets import load_graph
from glt.masks import Masks
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import Dropout
from glt.training import trainer
from glt.training.batching import FullBatch
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.trainer import EpochResult, Schedule, train

SEARCH = Schedule(50, 0.01, 5e-4, 0.01, 5e-4, 1e-2, 1e-2)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem(resolve({"hidden": 16}), load_graph("cora"))


def pruned(problem: Problem) -> Masks:
    """Masks with a fifth of the edges and half of the weights gone."""
    full, rng = problem.full_masks(), np.random.default_rng(0)
    scores = {name: rng.random(keep.shape) for name, keep in full.weights.keep.items()}
    return Masks(full.edges.prune(rng.random(full.edges.kept), 0.2), full.weights.prune(scores, 0.5))


def network(problem: Problem, masks: Masks, soft: bool) -> Network:
    start = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "start"), "cpu") if soft else None
    return Network(problem, masks, problem.initial_weights(0), start)


@pytest.mark.parametrize("soft", [False, True])
def test_pruned_weights_stay_zero_under_momentum_and_decay(problem: Problem, soft: bool) -> None:
    masks = pruned(problem)
    result = train(network(problem, masks, soft), SEARCH, stream(0, 1, "x"), lambda _: None)
    for name, keep in masks.weights.keep.items():
        assert not result.last_tensors[f"theta/{name}"][~keep].any()
        assert np.count_nonzero(result.last_tensors[f"theta/{name}"][keep]) > 0.99 * keep.sum()
        if soft:
            assert not result.last_tensors[f"mask/{name}"][~keep].any()


def test_soft_masks_start_within_the_noise(problem: Problem) -> None:
    masks = pruned(problem)
    soft = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "start"), "cpu")
    assert soft.edges.numel() == masks.edges.kept
    assert float((soft.edges.detach() - 1).abs().max()) <= 1.01e-5
    assert float((soft.edges.detach() - 1).abs().max()) > 0


def test_best_epoch_is_the_first_strict_maximum_and_its_tensors_score_so(problem: Problem) -> None:
    seen: list[EpochResult] = []
    net = network(problem, pruned(problem), soft=False)
    result = train(net, Schedule(30, 0.01, 5e-4), stream(0, 1, "x"), seen.append)
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
    for mask in net.soft.parameters():
        mask.grad = torch.zeros_like(mask)
    net.add_penalty_gradient(0.3, 0.7)
    rates = [0.3] + [0.7] * len(net.soft.weights)
    norms = sum(rate * mask.abs().sum() for rate, mask in zip(rates, net.soft.parameters(), strict=True))
    expected = torch.autograd.grad(norms, net.soft.parameters())
    for mask, gradient in zip(net.soft.parameters(), expected, strict=True):
        assert mask.grad is not None
        torch.testing.assert_close(mask.grad, gradient)


def test_training_twice_gives_the_same_bits(problem: Problem) -> None:
    masks = pruned(problem)
    first, second = (train(network(problem, masks, True), SEARCH, stream(0, 1, "x"), lambda _: None) for _ in "ab")
    for name, tensor in first.last_tensors.items():
        assert np.array_equal(tensor, second.last_tensors[name])


def test_a_stem_shared_with_evaluation_trains_as_a_fresh_one(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps by hand, computing everything anew, equal two epochs of passes on the whole graph."""
    masks, schedule = problem.full_masks(), Schedule(2, 0.01, 5e-4)
    monkeypatch.setattr(trainer, "passes_of", FullBatch)
    result = train(network(problem, masks, False), schedule, stream(0, 1, "x"), lambda _: None)
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
