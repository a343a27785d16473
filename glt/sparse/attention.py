"""Attention over the entries of a structure: the masked softmax, and messages of several heads."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from glt.sparse.structure import Structure, product_into


def edge_softmax(structure: Structure, logits: Tensor, factors: Tensor | None) -> Tensor:
    """Return attention [nnz, heads] that sums to 1 over the entries of each row: factor * exp(logit), normalised.

    A factor of 0 (or less) is the same as the entry's absence, and a factor of 1 changes nothing, so soft masks [nnz]
    are factors; every row needs one entry with a positive factor. Without factors all are 1.
    """
    if factors is not None:
        logits = logits.masked_fill((factors <= 0)[:, None], -torch.inf)
    weights = (logits - _row_maximum(structure, logits.detach())[structure.row]).exp()
    if factors is not None:
        weights = weights * factors.clamp(min=0)[:, None]
    sums = weights.new_zeros(structure.shape[0], weights.shape[1]).index_add(0, structure.row, weights)
    return weights / sums[structure.row]


def propagate_heads(structure: Structure, values: Tensor, dense: Tensor) -> Tensor:
    """Return, head by head, the product of the sparse matrix of that head's values with its columns.

    `values` is [nnz, heads]; `dense` [columns, heads * width] and the result hold the heads side by side.
    """
    result: Tensor = _PropagateHeads.apply(values, dense, structure)  # type: ignore[no-untyped-call]
    return result


def _row_maximum(structure: Structure, logits: Tensor) -> Tensor:
    start = logits.new_full((structure.shape[0], logits.shape[1]), -torch.inf)
    return start.scatter_reduce(0, structure.row.long()[:, None].expand_as(logits), logits, "amax")


class _PropagateHeads(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, structure: Structure) -> Tensor:
        by_head = values.t().contiguous()
        ctx.save_for_backward(by_head, dense)
        ctx.structure = structure
        result = dense.new_empty(structure.shape[0], dense.shape[1])
        for value, source, target in zip(by_head, _heads(dense, by_head), _heads(result, by_head), strict=True):
            product_into(target, structure.matrix(value), source)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        by_head, dense = ctx.saved_tensors
        structure: Structure = ctx.structure
        gradient = gradients[0].contiguous()
        to_values, to_dense = torch.empty_like(by_head), torch.empty_like(dense)
        pattern = structure.matrix(torch.zeros_like(by_head[0]))
        columns = zip(*(_heads(each, by_head) for each in (gradient, dense, to_dense)), strict=True)
        for head, (down, source, target) in enumerate(columns):
            sampled = torch.sparse.sampled_addmm(pattern, down.contiguous(), source.contiguous().t(), beta=0.0)
            to_values[head] = sampled.values()
            product_into(target, structure.transposed(by_head[head]), down)
        return to_values.t(), to_dense, None


def _heads(dense: Tensor, by_head: Tensor) -> tuple[Tensor, ...]:
    """Return views of the heads' columns."""
    return dense.chunk(by_head.shape[0], dim=1)
