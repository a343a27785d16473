"""Softmax over a node's edges: attention (`edge_softmax`) and aggregation (`softmax_sum`).

Softmax aggregation (GENConv, Li et al. 2020) averages a node's sources channel by channel, large values weighing more.
Where a message depends on its source alone, no array of entries x channels is needed: with entry values w the result
is the ratio of two sparse products, A_w (exp(t m) m) / A_w exp(t m).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from glt.sparse.spmm import Structure, product

# One maximum per channel for all nodes lets the sums of nodes far below it vanish; those are computed entry by entry.
SMALLEST_SUM = 1e-30


def edge_softmax(structure: Structure, logits: Tensor, factors: Tensor | None) -> Tensor:
    """Return attention [nnz, heads]: factor * exp(logit), normalised over each row's entries.

    `factors` [nnz] are soft masks: at 0 or less an entry counts as absent, at 1 (the default) it is unchanged. Every
    row needs an entry with a positive factor.
    """
    if factors is not None:
        logits = logits.masked_fill((factors <= 0)[:, None], -torch.inf)
    weights = (logits - _row_maximum(structure.row, logits.detach(), structure.shape[0])[structure.row]).exp()
    if factors is not None:
        weights = weights * factors.clamp(min=0)[:, None]
    sums = weights.new_zeros(structure.shape[0], weights.shape[1]).index_add(0, structure.row, weights)
    return weights / sums[structure.row]


def softmax_sum(
    structure: Structure,
    values: Tensor,
    rows: Tensor,
    temperature: Tensor,
    counted: Tensor | None = None,
    fixed_softmax: bool = False,
) -> Tensor:
    """Return sum_j w_ij exp(t m_j) m_j / sum_j w_ij exp(t m_j) [N, H].

    Nodes without sources have 0. `values` are w [nnz] (an entry at or below 0 counts as absent), `rows` m [N, H], and
    `temperature` t [1]. `counted` [nnz] replaces w in the denominator, so an entry with w = 0 stays in it. With
    `fixed_softmax` the exponentials have no gradient, as in the authors' code.
    """
    values = values.clamp(min=0)
    result, low = _Ratio.apply(values, rows, temperature, structure, counted, fixed_softmax)  # type: ignore[no-untyped-call]
    if not low.any():
        return result  # type: ignore[no-any-return]
    entries = torch.nonzero(low[structure.row]).squeeze(1)
    targets = torch.nonzero(low).squeeze(1)
    place = torch.cumsum(low, 0)[structure.row[entries]] - 1
    messages = rows[structure.col[entries]]
    own_counted = None if counted is None else counted[entries]
    by_entry = message_softmax_sum(
        place, values[entries], messages, temperature, targets.numel(), own_counted, fixed_softmax
    )
    return result.index_put((targets,), by_entry)  # type: ignore[no-any-return]


def message_softmax_sum(
    row: Tensor,
    values: Tensor,
    messages: Tensor,
    temperature: Tensor,
    count: int,
    counted: Tensor | None = None,
    fixed_softmax: bool = False,
) -> Tensor:
    """Return softmax sums [count, H] of one message [nnz, H] per entry.

    For messages that depend on both ends or on the edge. `row` [nnz] are the entries' targets; other arguments are
    those of `softmax_sum`.
    """
    values = values.clamp(min=0)
    powers = temperature * (messages.detach() if fixed_softmax else messages)
    present = (values if counted is None else counted) > 0
    highest = _row_maximum(row, powers.detach().masked_fill(~present[:, None], -torch.inf), count)
    weights = (powers - highest[row]).masked_fill(~present[:, None], -torch.inf).exp()
    if fixed_softmax:
        weights = weights.detach()
    sums = messages.new_zeros(count, messages.shape[1])
    above = sums.index_add(0, row, values[:, None] * weights * messages)
    below = sums.index_add(0, row, (values if counted is None else counted)[:, None] * weights)
    return above / torch.where(below > 0, below, 1)


class _Ratio(torch.autograd.Function):
    """The ratio of both products, and which rows' sums are too small for it.

    Those rows are 0, without gradient.
    """

    @staticmethod
    def forward(
        ctx: Any,
        values: Tensor,
        rows: Tensor,
        temperature: Tensor,
        structure: Structure,
        counted: Tensor | None,
        fixed_softmax: bool,
    ) -> tuple[Tensor, Tensor]:
        sums = _products(structure.matrix, values, counted, _scaled_and_powers(rows, temperature), structure.shape[0])
        above, below = sums.chunk(2, dim=1)
        low = (below < SMALLEST_SUM).any(dim=1)
        below.masked_fill_(low[:, None], 1)
        above.div_(below).masked_fill_(low[:, None], 0)
        ctx.save_for_backward(values, rows, temperature, sums, low, counted)
        ctx.structure, ctx.fixed_softmax = structure, fixed_softmax
        ctx.mark_non_differentiable(low)
        return above.contiguous(), low

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        values, rows, temperature, sums, low, counted = ctx.saved_tensors
        structure: Structure = ctx.structure
        result, below = sums.chunk(2, dim=1)
        down = torch.empty_like(sums)
        to_above, to_below = down.chunk(2, dim=1)
        torch.div(gradients[0], below, out=to_above).masked_fill_(low[:, None], 0)
        torch.mul(to_above, result, out=to_below).neg_()
        scaled_and_powers = _scaled_and_powers(rows, temperature)
        to_values = _sampled(structure, down, scaled_and_powers, counted) if ctx.needs_input_grad[0] else None
        upwards = _products(structure.transposed, values, counted, down, structure.shape[1])
        to_scaled, to_powers = upwards.chunk(2, dim=1)
        powers = scaled_and_powers.chunk(2, dim=1)[1]
        if ctx.fixed_softmax:
            return to_values, to_scaled * powers, None, None, None, None
        # d exp(t m) m = exp(t m) (1 + t m) dm, d exp(t m) = t exp(t m) dm; the sum of both shares exp(t m).
        shared = (to_scaled * rows).add_(to_powers).mul_(powers)
        to_temperature = torch.sum(shared * rows).reshape(1) if ctx.needs_input_grad[2] else None
        to_rows = shared.mul_(temperature).addcmul_(to_scaled, powers)
        return to_values, to_rows, to_temperature, None, None, None


def _products(
    matrix: Callable[[Tensor], Tensor], values: Tensor, counted: Tensor | None, both: Tensor, count: int
) -> Tensor:
    """Return both products [count, 2 H]; the second half of the columns uses `counted`."""
    if counted is None:
        return product(matrix(values), both)
    results = both.new_empty(count, both.shape[1])
    for result, entries, half in zip(results.chunk(2, dim=1), (values, counted), both.chunk(2, dim=1), strict=True):
        product(matrix(entries), half.contiguous(), into=result)
    return results


def _scaled_and_powers(rows: Tensor, temperature: Tensor) -> Tensor:
    """Return exp(t m) m and exp(t m), divided by the channel's largest power."""
    both = rows.new_empty(rows.shape[0], 2 * rows.shape[1])
    scaled, powers = both.chunk(2, dim=1)
    torch.mul(rows, temperature, out=powers)
    powers.sub_(powers.amax(dim=0)).exp_()
    torch.mul(powers, rows, out=scaled)
    return both


def _sampled(structure: Structure, down: Tensor, scaled_and_powers: Tensor, counted: Tensor | None) -> Tensor:
    """Return the gradients of values: each target's gradient times its source's row."""
    pattern = structure.matrix(down.new_zeros(structure.nnz))
    if counted is not None:
        down, scaled_and_powers = (both.chunk(2, dim=1)[0].contiguous() for both in (down, scaled_and_powers))
    sampled: Tensor = torch.sparse.sampled_addmm(pattern, down, scaled_and_powers.t(), beta=0.0)
    return sampled.values()


def _row_maximum(row: Tensor, powers: Tensor, count: int) -> Tensor:
    start = powers.new_full((count, powers.shape[1]), -torch.inf)
    highest = start.scatter_reduce(0, row.long()[:, None].expand_as(powers), powers, "amax")
    return highest.masked_fill(highest == -torch.inf, 0)
