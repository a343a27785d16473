"""Attention softmax and softmax aggregation against dense formulations and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.sparse import Structure, edge_softmax, message_softmax_sum, propagate_heads, softmax_sum

# Row 0 has three entries, row 1 one, row 2 two.
HEAD_ROWS, HEAD_COLS = np.array([0, 0, 0, 1, 2, 2]), np.array([0, 1, 2, 1, 0, 2])
# Node 3 has no source and node 0 three of them; every value is one of an entry, in CSR order.
ROWS, COLS = np.array([0, 0, 0, 1, 2, 2]), np.array([1, 2, 3, 0, 0, 3])
NODES, WIDTH = 4, 3


@pytest.fixture
def attended() -> Structure:
    return Structure.from_entries(HEAD_ROWS, HEAD_COLS, (3, 3))


def doubles(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def head_matrix(values: Tensor) -> Tensor:
    """Put one head's values [nnz] into a matrix."""
    return torch.zeros(3, 3, dtype=values.dtype).index_put(
        (torch.from_numpy(HEAD_ROWS), torch.from_numpy(HEAD_COLS)), values
    )


def test_a_masked_edge_has_weight_zero_where_a_masked_logit_wins(attended: Structure) -> None:
    """Logits -2, -1.5, -3 with the middle edge masked: multiplying the logit by the mask gives that edge 0.84."""
    logits = torch.tensor([-2.0, -1.5, -3.0, 0.0, 0.0, 0.0])[:, None]
    mask = torch.tensor([1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    removed = edge_softmax(attended, logits, mask)[:3, 0]
    assert removed.tolist() == pytest.approx([np.exp(1) / (1 + np.exp(1)), 0.0, 1 / (1 + np.exp(1))])
    assert removed[1] == 0
    multiplied = edge_softmax(attended, logits * mask[:, None], None)[:3, 0]
    assert float(multiplied[1]) == pytest.approx(0.844, abs=0.001)


def test_without_factors_it_is_the_softmax_of_every_row(attended: Structure) -> None:
    logits = doubles(6, 2)
    ours = edge_softmax(attended, logits, None)
    for head in range(2):
        full = head_matrix(logits[:, head]).masked_fill(head_matrix(torch.ones(6)) == 0, -torch.inf)
        torch.testing.assert_close(head_matrix(ours[:, head]), full.softmax(dim=1))
    torch.testing.assert_close(edge_softmax(attended, logits, torch.ones(6, dtype=torch.float64)), ours)


def test_soft_factors_weigh_the_exponentials(attended: Structure) -> None:
    logits, factors = doubles(6, 2), torch.tensor([0.5, 1.2, 0.9, 1.0, 0.3, 1.0], dtype=torch.float64)
    unnormalised = factors * logits[:, 0].exp()
    expected = head_matrix(unnormalised) / head_matrix(unnormalised).sum(dim=1, keepdim=True)
    torch.testing.assert_close(head_matrix(edge_softmax(attended, logits, factors)[:, 0]), expected)


def test_huge_logits_of_masked_edges_disturb_nothing(attended: Structure) -> None:
    logits = doubles(6, 1)
    mask = torch.tensor([1.0, 0.0, 1.0, 1.0, 1.0, 1.0], dtype=torch.float64)
    calm = edge_softmax(attended, logits, mask)
    logits[1] = 5000.0
    torch.testing.assert_close(edge_softmax(attended, logits, mask), calm)


def test_gradients_of_logits_and_soft_factors_check(attended: Structure) -> None:
    logits = doubles(6, 2).requires_grad_()
    factors = (doubles(6).abs() + 0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda e, m: edge_softmax(attended, e, m), (logits, factors))


def test_a_masked_edge_gets_no_gradient_and_gives_no_nan(attended: Structure) -> None:
    logits = doubles(6, 1).requires_grad_()
    factors = torch.tensor([1.0, 0.0, 1.0, 1.0, -0.2, 1.0], dtype=torch.float64, requires_grad=True)
    (edge_softmax(attended, logits, factors) * doubles(6, 1)).sum().backward()
    assert logits.grad is not None
    assert factors.grad is not None
    assert bool(logits.grad.isfinite().all())
    assert bool(factors.grad.isfinite().all())
    assert float(logits.grad[1]) == 0


def test_heads_equal_dense_products_side_by_side(attended: Structure) -> None:
    values, rows = doubles(6, 2), doubles(3, 8)
    expected = torch.cat([head_matrix(values[:, h]) @ rows[:, 4 * h : 4 * h + 4] for h in range(2)], dim=1)
    torch.testing.assert_close(propagate_heads(attended, values, rows), expected)


def test_gradients_of_heads_check(attended: Structure) -> None:
    values, rows = doubles(6, 2).requires_grad_(), doubles(3, 6).requires_grad_()
    assert torch.autograd.gradcheck(lambda v, r: propagate_heads(attended, v, r), (values, rows))


@pytest.fixture
def structure() -> Structure:
    return Structure.from_entries(ROWS, COLS, (NODES, NODES))


def drawn(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.rand(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def dense(values: Tensor, rows: Tensor, temperature: Tensor, counted: Tensor | None = None) -> Tensor:
    """The definition, node by node and channel by channel."""
    counted = values if counted is None else counted
    result = [[rows.new_zeros(()) for _ in range(WIDTH)] for _ in range(NODES)]
    for node in range(NODES):
        own = [k for k in range(ROWS.size) if ROWS[k] == node]
        for channel in range(WIDTH) if own else []:
            messages = torch.stack([rows[COLS[k], channel] for k in own])
            powers = (temperature * messages).exp()
            above = sum(values[k] * power * message for k, power, message in zip(own, powers, messages, strict=True))
            below = sum(counted[k] * power for k, power in zip(own, powers, strict=True))
            result[node][channel] = above / below if below > 0 else rows.new_zeros(())
    return torch.stack([torch.stack(row) for row in result])


@pytest.mark.parametrize("temperature", [0.1, 1.0, -2.0])
@pytest.mark.parametrize("keeps_denominator", [False, True])
def test_the_ratio_is_the_dense_formula_with_its_gradients(
    structure: Structure, temperature: float, keeps_denominator: bool
) -> None:
    values, rows = drawn(ROWS.size), drawn(NODES, WIDTH)
    counted = torch.ones(ROWS.size, dtype=torch.float64) if keeps_denominator else None
    slope = torch.tensor([temperature], dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(
        softmax_sum(structure, values, rows, slope, counted), dense(values, rows, slope, counted)
    )
    assert torch.autograd.gradcheck(lambda *given: softmax_sum(structure, *given, counted), (values, rows, slope))


@pytest.mark.parametrize("keeps_denominator", [False, True])
def test_by_entry_it_is_the_same_with_its_gradients(structure: Structure, keeps_denominator: bool) -> None:
    values, rows, slope = drawn(ROWS.size), drawn(NODES, WIDTH), drawn(1)
    counted = torch.ones(ROWS.size, dtype=torch.float64) if keeps_denominator else None

    def by_entry(values: Tensor, rows: Tensor, slope: Tensor) -> Tensor:
        return message_softmax_sum(structure.row, values, rows[structure.col], slope, NODES, counted)

    torch.testing.assert_close(by_entry(values, rows, slope), softmax_sum(structure, values, rows, slope, counted))
    assert torch.autograd.gradcheck(by_entry, (values, rows, slope))


def test_nodes_far_below_the_largest_message_are_done_by_entry(structure: Structure) -> None:
    """exp(-200) is 0 in single precision: without the second way node 2 would be 0 / 0."""
    rows = torch.tensor([[1.0, 1.0, 1.0], [200.0, 250.0, 300.0], [0.5, 0.5, 0.5], [2.0, 2.0, 2.0]], requires_grad=True)
    values, slope = torch.ones(ROWS.size, requires_grad=True), torch.ones(1, requires_grad=True)
    result = softmax_sum(structure, values, rows, slope)
    wanted = dense(*(each.detach().double() for each in (values, rows, slope)))
    torch.testing.assert_close(result.detach(), wanted.float())
    result.sum().backward()
    exact = [each.detach().double().requires_grad_() for each in (values, rows, slope)]
    dense(*exact).sum().backward()
    for mine, other in zip((values, rows, slope), exact, strict=True):
        assert mine.grad is not None
        assert other.grad is not None
        torch.testing.assert_close(mine.grad, other.grad.float(), rtol=1e-4, atol=1e-5)


def test_an_entry_of_value_zero_or_less_is_absent(structure: Structure) -> None:
    rows, slope = drawn(NODES, WIDTH), drawn(1)
    values = torch.tensor([0.7, 0.0, 0.4, 0.9, -0.3, 0.0], dtype=torch.float64)
    kept = values > 0
    smaller = Structure.from_entries(ROWS[kept.numpy()], COLS[kept.numpy()], (NODES, NODES))
    without = softmax_sum(smaller, values[kept], rows, slope)
    torch.testing.assert_close(softmax_sum(structure, values, rows, slope), without)
    assert (without[2:] == 0).all()


def test_a_fixed_softmax_lets_only_messages_and_values_learn(structure: Structure) -> None:
    values, rows, slope = drawn(ROWS.size), drawn(NODES, WIDTH), drawn(1)
    softmax_sum(structure, values, rows, slope, fixed_softmax=True).sum().backward()
    powers = (slope * rows).detach().exp()
    fixed_values, fixed_rows = (each.detach().clone().requires_grad_() for each in (values, rows))
    matrix = torch.zeros(NODES, NODES, dtype=torch.float64).index_put(
        (torch.from_numpy(ROWS), torch.from_numpy(COLS)), fixed_values
    )
    below = matrix @ powers
    (matrix @ (powers * fixed_rows) / torch.where(below > 0, below, 1)).sum().backward()
    assert slope.grad is None
    torch.testing.assert_close(rows.grad, fixed_rows.grad)
    torch.testing.assert_close(values.grad, fixed_values.grad)
