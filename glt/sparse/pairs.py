"""Products of pairs of rows, with a gradient that is the same whatever the number of threads."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from glt.sparse.structure import Structure, product


class _InnerProducts(torch.autograd.Function):
    """Gathered rows would send their gradients back in the order in which threads come by; a product has one order."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, pairs: Tensor) -> Tensor:
        ctx.save_for_backward(rows, pairs)
        return (rows[pairs[0]] * rows[pairs[1]]).sum(dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        rows, pairs = ctx.saved_tensors
        ends = torch.cat([pairs, pairs.flip(0)], dim=1).cpu().numpy()
        count = rows.shape[0]
        structure = Structure.from_entries(ends[0], ends[1], (count, count), str(rows.device))
        values = gradients[0].repeat(2)[structure.order]
        return product(structure.matrix(values), rows.contiguous()), None


def inner_products(rows: Tensor, pairs: Tensor) -> Tensor:
    """Return the inner product [n] of the two rows of `rows` [N, d] that each of `pairs` [2, n] names."""
    result: Tensor = _InnerProducts.apply(rows, pairs)  # type: ignore[no-untyped-call]
    return result


def row_products(rows: Tensor, pairs: Tensor) -> Tensor:
    """Return the product [n, d], value by value, of the two rows of `rows` [N, d] that each of `pairs` [2, n] names.

    `index_select` adds up the gradients of a row in the order of the pairs, on a CPU; `rows[...]` does not.
    """
    return rows.index_select(0, pairs[0]) * rows.index_select(0, pairs[1])
