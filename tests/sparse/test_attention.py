"""The masked softmax and messages of several heads against dense matrices and hand-computed numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.sparse import Structure, edge_softmax, propagate_heads

# Row 0 has three entries, row 1 one, row 2 two.
ROWS, COLS = np.array([0, 0, 0, 1, 2, 2]), np.array([0, 1, 2, 1, 0, 2])


@pytest.fixture
def structure() -> Structure:
    return Structure.from_entries(ROWS, COLS, (3, 3))


def doubles(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def dense(values: Tensor) -> Tensor:
    """Put one head's values [nnz] into a matrix."""
    return torch.zeros(3, 3, dtype=values.dtype).index_put((torch.from_numpy(ROWS), torch.from_numpy(COLS)), values)


def test_a_masked_edge_has_weight_zero_where_a_masked_logit_wins(structure: Structure) -> None:
    """Logits -2, -1.5, -3 with the middle edge masked: multiplying the logit by the mask gives that edge 0.84."""
    logits = torch.tensor([-2.0, -1.5, -3.0, 0.0, 0.0, 0.0])[:, None]
    mask = torch.tensor([1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    removed = edge_softmax(structure, logits, mask)[:3, 0]
    assert removed.tolist() == pytest.approx([np.exp(1) / (1 + np.exp(1)), 0.0, 1 / (1 + np.exp(1))])
    assert removed[1] == 0
    multiplied = edge_softmax(structure, logits * mask[:, None], None)[:3, 0]
    assert float(multiplied[1]) == pytest.approx(0.844, abs=0.001)


def test_without_factors_it_is_the_softmax_of_every_row(structure: Structure) -> None:
    logits = doubles(6, 2)
    ours = edge_softmax(structure, logits, None)
    for head in range(2):
        full = dense(logits[:, head]).masked_fill(dense(torch.ones(6)) == 0, -torch.inf)
        torch.testing.assert_close(dense(ours[:, head]), full.softmax(dim=1))
    torch.testing.assert_close(edge_softmax(structure, logits, torch.ones(6, dtype=torch.float64)), ours)


def test_soft_factors_weigh_the_exponentials(structure: Structure) -> None:
    logits, factors = doubles(6, 2), torch.tensor([0.5, 1.2, 0.9, 1.0, 0.3, 1.0], dtype=torch.float64)
    unnormalised = factors * logits[:, 0].exp()
    expected = dense(unnormalised) / dense(unnormalised).sum(dim=1, keepdim=True)
    torch.testing.assert_close(dense(edge_softmax(structure, logits, factors)[:, 0]), expected)


def test_huge_logits_of_masked_edges_disturb_nothing(structure: Structure) -> None:
    logits = doubles(6, 1)
    mask = torch.tensor([1.0, 0.0, 1.0, 1.0, 1.0, 1.0], dtype=torch.float64)
    calm = edge_softmax(structure, logits, mask)
    logits[1] = 5000.0
    torch.testing.assert_close(edge_softmax(structure, logits, mask), calm)


def test_gradients_of_logits_and_soft_factors_check(structure: Structure) -> None:
    logits = doubles(6, 2).requires_grad_()
    factors = (doubles(6).abs() + 0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda e, m: edge_softmax(structure, e, m), (logits, factors))


def test_a_masked_edge_gets_no_gradient_and_gives_no_nan(structure: Structure) -> None:
    logits = doubles(6, 1).requires_grad_()
    factors = torch.tensor([1.0, 0.0, 1.0, 1.0, -0.2, 1.0], dtype=torch.float64, requires_grad=True)
    (edge_softmax(structure, logits, factors) * doubles(6, 1)).sum().backward()
    assert logits.grad is not None
    assert factors.grad is not None
    assert bool(logits.grad.isfinite().all())
    assert bool(factors.grad.isfinite().all())
    assert float(logits.grad[1]) == 0


def test_heads_equal_dense_products_side_by_side(structure: Structure) -> None:
    values, rows = doubles(6, 2), doubles(3, 8)
    expected = torch.cat([dense(values[:, h]) @ rows[:, 4 * h : 4 * h + 4] for h in range(2)], dim=1)
    torch.testing.assert_close(propagate_heads(structure, values, rows), expected)


def test_gradients_of_heads_check(structure: Structure) -> None:
    values, rows = doubles(6, 2).requires_grad_(), doubles(3, 6).requires_grad_()
    assert torch.autograd.gradcheck(lambda v, r: propagate_heads(structure, v, r), (values, rows))
