"""Dropout, and hidden layers against the same thing written plainly."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.sparse import Dropout, hidden_linear


def bits(rate: float) -> Dropout:
    """Return a dropout that draws the same each time it is made."""
    return Dropout(rate, np.random.default_rng(7))


@pytest.mark.parametrize("rate", [0.5, 0.2])
def test_dropout_keeps_the_expected_share_and_the_mean(rate: float) -> None:
    dropped = bits(rate)(torch.ones(1000, 100))
    assert dropped.unique().tolist() == pytest.approx([0, 1 / (1 - rate)])
    # 100,000 draws: five standard deviations of the mean are below 0.016.
    assert float(dropped.mean()) == pytest.approx(1, abs=0.016)


@pytest.mark.parametrize("rate", [0.5, 0.2])
def test_dropout_gradient_is_its_own_scale(rate: float) -> None:
    dense = torch.ones(50, 30, requires_grad=True)
    dropped = bits(rate)(dense)
    dropped.sum().backward()
    assert dense.grad is not None
    assert torch.equal(dense.grad, dropped.detach())


def test_dropout_without_generator_changes_nothing() -> None:
    dense = torch.randn(3, 3)
    assert Dropout(0.5, None)(dense) is dense


def test_equal_generators_drop_the_same_elements() -> None:
    assert torch.equal(bits(0.5)(torch.ones(9, 9)), bits(0.5)(torch.ones(9, 9)))


@pytest.fixture
def layer() -> tuple[Tensor, Tensor]:
    """Rows of both signs and weights, in double precision, waiting for gradients."""
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(11, 6, dtype=torch.float64, generator=generator, requires_grad=True)
    return hidden, torch.randn(6, 3, dtype=torch.float64, generator=generator, requires_grad=True)


@pytest.mark.parametrize("rate", [0.5, 0.2, 0.0])
def test_a_hidden_layer_equals_relu_dropout_and_product(layer: tuple[Tensor, Tensor], rate: float) -> None:
    hidden, weight = layer
    plain = bits(rate)(hidden.relu()) @ weight
    ours = hidden_linear(hidden * 1, weight, bits(rate))
    torch.testing.assert_close(ours, plain)
    upstream = torch.randn_like(plain)
    for mine, reference in zip(
        torch.autograd.grad(ours, layer, upstream), torch.autograd.grad(plain, layer, upstream), strict=True
    ):
        torch.testing.assert_close(mine, reference)


@pytest.mark.parametrize("rate", [0.5, 0.2, 0.0])
def test_gradients_of_a_hidden_layer_check(layer: tuple[Tensor, Tensor], rate: float) -> None:
    assert torch.autograd.gradcheck(lambda h, w: hidden_linear(h * 1, w, bits(rate)), layer)


def test_evaluation_may_be_repeated_and_followed_by_training(layer: tuple[Tensor, Tensor]) -> None:
    hidden, weight = layer
    rows = hidden * 1
    with torch.no_grad():
        first, second = (hidden_linear(rows, weight, Dropout(0.5, None)) for _ in range(2))
    assert torch.equal(first, second)
    trained = hidden_linear(rows, weight, bits(0.5))
    assert torch.equal(trained, hidden_linear(hidden * 1, weight, bits(0.5)))


def test_a_row_that_another_step_needs_for_its_gradient_is_not_lost_silently(layer: tuple[Tensor, Tensor]) -> None:
    hidden, weight = layer
    rows = hidden * 1
    squares = rows.square()
    result = hidden_linear(rows, weight, bits(0.5))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (squares.sum() + result.sum()).backward()
