"""Sinkhorn's algorithm: against a dense loop, the exact assignment of small sets, and numerical gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment

from glt.training.optimal_transport import transport_cost


def points(count: int, seed: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).dirichlet(np.ones(3), count))


def squared_distances(one: torch.Tensor, other: torch.Tensor) -> np.ndarray:
    return ((one[:, None] - other[None]) ** 2).sum(2).numpy()


@pytest.mark.parametrize(("sizes", "iterations"), [((3, 5), 1), ((6, 4), 3), ((2, 2), 10)])
def test_iterations_equal_scalings_of_a_dense_kernel(sizes: tuple[int, int], iterations: int) -> None:
    """Cuturi's algorithm 1: P = diag(r) K diag(c), r = a / (K c), c = b / (K' r), here with a large regularisation."""
    one, other, regularisation = points(sizes[0], 0), points(sizes[1], 1), 0.2
    costs = squared_distances(one, other)
    kernel, by_column = np.exp(-costs / regularisation), np.ones(sizes[1])
    for _ in range(iterations):
        by_row = 1 / sizes[0] / (kernel @ by_column)
        by_column = 1 / sizes[1] / (kernel.T @ by_row)
    expected = (by_row[:, None] * kernel * by_column * costs).sum()
    assert float(transport_cost(one, other, regularisation, iterations)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_many_iterations_reach_the_best_assignment(seed: int) -> None:
    """For sets of equal size the optimal plan is an assignment; the regularised one nears it."""
    one, other = points(6, seed), points(6, seed + 100)
    costs = squared_distances(one, other)
    best = costs[linear_sum_assignment(costs)].mean()
    assert float(transport_cost(one, other, 1e-3, 2000)) == pytest.approx(best, abs=2e-3)


def test_far_points_do_not_underflow() -> None:
    """Distances of 2 over 1e-3 are exponents of -2000, beyond any float."""
    one, other = torch.tensor([[1.0, 0.0]]).repeat(3, 1), torch.tensor([[0.0, 1.0]]).repeat(2, 1)
    cost = transport_cost(one.requires_grad_(), other, 1e-3, 10)
    cost.backward()
    assert float(cost.detach()) == pytest.approx(2.0, rel=1e-4)
    assert one.grad is not None
    np.testing.assert_allclose(one.grad.numpy(), [[2 / 3, -2 / 3]] * 3, rtol=1e-3)


@pytest.mark.parametrize("iterations", [1, 4])
def test_gradient_equals_differences(iterations: int) -> None:
    one, other = points(4, 2).requires_grad_(), points(3, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda *sides: transport_cost(*sides, 0.1, iterations), (one, other))


def test_equal_sets_cost_next_to_nothing() -> None:
    one = points(5, 4)
    assert float(transport_cost(one, one.flip(0), 1e-3, 10)) == pytest.approx(0, abs=1e-6)
