"""Sparse and thin products, features and hidden layers against dense formulations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import Tensor

from glt.datasets.graph import Graph
from glt.sparse import ConstantMatrix, Dropout, Features, hidden_linear, inner_products, linear, row_normalised
from glt.sparse import features as module
from glt.sparse.spmm import product, product_into


def test_features_times_weights_equals_dense_and_gradients_check(small_graph: Graph) -> None:
    features = Features(ConstantMatrix(small_graph.features, dtype=torch.float64))
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    dense = torch.from_numpy(small_graph.features.toarray()).double()
    torch.testing.assert_close(features.times(weight), dense @ weight)
    assert torch.autograd.gradcheck(features.times, (weight,))


def test_features_cut_into_blocks_give_the_same_gradient(small_graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NUMBERS_IN_CACHE", 2)
    monkeypatch.setattr(module, "ROWS_OF_A_BLOCK", 2)
    features = Features(ConstantMatrix(small_graph.features, dtype=torch.float64))
    assert len(features._constant._blocks) > 1
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(features.times, (weight,))


def test_sparse_weights_give_the_same_products(small_graph: Graph) -> None:
    weight = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [3.0, 0.0]])
    features = Features(ConstantMatrix(small_graph.features))
    torch.testing.assert_close(features.times(weight.to_sparse_csr()), features.times(weight))
    hidden = torch.randn(5, 4)
    torch.testing.assert_close(linear(hidden, weight.to_sparse_csr()), hidden @ weight)


@pytest.mark.parametrize("width", [1, 7, 15, 16, 40, 129])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_products_by_either_kernel_are_those_of_dense_matrices(width: int, dtype: torch.dtype) -> None:
    """Rows without an entry are zeros, whatever the memory held, and so is a matrix without any."""
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(9, 6, dtype=dtype, generator=generator)
    dense[dense < 0.6] = 0
    dense[[0, 4, 8]] = 0
    columns = torch.randn(6, width, dtype=dtype, generator=generator)
    for matrix in (dense, torch.zeros_like(dense)):
        torch.testing.assert_close(product(matrix.to_sparse_csr(), columns), matrix @ columns)
        beside = torch.full((9, 2 * width), torch.nan, dtype=dtype)
        product_into(beside[:, width:], matrix.to_sparse_csr(), columns)
        torch.testing.assert_close(beside[:, width:], matrix @ columns)
        assert beside[:, :width].isnan().all()


def test_linear_equals_matmul_and_gradients_check() -> None:
    hidden = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(linear(hidden, weight), hidden @ weight)
    assert torch.autograd.gradcheck(linear, (hidden, weight))


def test_all_zero_rows_stay_zero_and_others_sum_to_one(small_graph: Graph) -> None:
    sums = np.asarray(row_normalised(small_graph.features).sum(axis=1)).ravel()
    np.testing.assert_allclose(sums, [1, 1, 0, 1, 1, 1], rtol=1e-6)


def test_rows_with_negative_values_are_divided_by_their_magnitudes() -> None:
    result = row_normalised(csr_array(np.array([[-1.0, 1.0]])))
    np.testing.assert_allclose(result.toarray(), [[-0.5, 0.5]])


def test_shuffled_rows_share_a_product_until_the_weight_changes(small_graph: Graph) -> None:
    order = torch.tensor([3, 1, 0, 2, 5, 4])
    features = Features(ConstantMatrix(small_graph.features, dtype=torch.float64), keep_product=True)
    dense = torch.from_numpy(small_graph.features.toarray()).double()
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    for _ in range(2):
        product = features.times(weight)
        assert features.latest(weight) is product
        torch.testing.assert_close(features.shuffled(order).times(weight), dense[order] @ weight)
        with torch.no_grad():
            weight.mul_(-2)
        assert features.latest(weight) is None
        torch.testing.assert_close(features.shuffled(order).times(weight), dense[order] @ weight)
    assert torch.autograd.gradcheck(lambda w: features.times(w).sum() * features.shuffled(order).times(w), (weight,))


def test_a_product_that_nobody_asks_for_again_is_not_kept(small_graph: Graph) -> None:
    features = Features(ConstantMatrix(small_graph.features))
    weight = torch.randn(4, 3, requires_grad=True)
    product = features.times(weight)
    assert features.latest(weight) is None
    order = torch.tensor([3, 1, 0, 2, 5, 4])
    assert torch.equal(features.shuffled(order).times(weight), product[order])


def test_inner_products_of_repeated_and_turned_pairs_have_the_gradient_of_the_formula() -> None:
    rows = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    pairs = torch.tensor([[0, 1, 0, 1, 2], [1, 0, 1, 3, 2]])
    expected = torch.stack([rows[i] @ rows[j] for i, j in pairs.t()])
    torch.testing.assert_close(inner_products(rows, pairs), expected)
    assert torch.autograd.gradcheck(inner_products, (rows, pairs))


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
