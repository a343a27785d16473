"""Optimal transport between two sets of points: Sinkhorn's algorithm on logarithms, with its gradient.

The gradient is that of the iterations themselves, which need not have converged. It is written out, because autograd
would keep a matrix for every half iteration.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

# exp of less is below float32's normal numbers, where it is ten times slower; beside 1 it is nothing.
LOWEST = -80.0


def transport_cost(one: Tensor, other: Tensor, regularisation: float, iterations: int) -> Tensor:
    """Return the cost of moving points `one` [n, d] to `other` [m, d], all of equal mass, after some iterations.

    It is <P, C> with C the squared distances and P the plan of Sinkhorn's algorithm (Cuturi 2013): an estimate of the
    squared Wasserstein distance W2^2. Iterations end at a plan whose column sums are exact.

    The true cost of this example is 2.5, which more iterations approach.

    >>> one, other = (torch.tensor([[low], [high]], dtype=torch.float64) for low, high in ((0, 1), (1, 3)))
    >>> round(float(transport_cost(one, other, 1e-3, 10)), 3)
    2.475
    """
    lengths = one.square().sum(1)[:, None] + other.square().sum(1)
    costs = (lengths - 2 * one @ other.t()).clamp_min(0)
    return _Sinkhorn.apply(costs, regularisation, iterations)  # type: ignore[no-any-return, no-untyped-call]


class _Sinkhorn(torch.autograd.Function):
    """<P, C> as a function of the costs C [n, m], where log P = u + v - C / regularisation.

    An iteration sets the row sums of P to 1 / n through u, then the column sums to 1 / m through v.
    """

    @staticmethod
    def forward(ctx: Any, costs: Tensor, regularisation: float, iterations: int) -> Tensor:
        log_kernel = costs / -regularisation
        turned = log_kernel.t().contiguous()
        rows, columns = (-math.log(size) for size in costs.shape)
        by_column = costs.new_zeros(costs.shape[1])
        steps = []
        for _ in range(iterations):
            by_row = rows - _log_sums(log_kernel, by_column)
            before, by_column = by_column, columns - _log_sums(turned, by_row)
            steps.append((before, by_row, by_column))
        plan = _exp(log_kernel, by_row, by_column)
        ctx.save_for_backward(costs, log_kernel, plan)
        ctx.steps, ctx.regularisation = steps, regularisation
        return (plan * costs).sum()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        costs, log_kernel, plan = ctx.saved_tensors
        of_kernel = plan * costs
        of_row, of_column = of_kernel.sum(1), of_kernel.sum(0)
        rows, columns = (math.log(size) for size in costs.shape)
        for before, by_row, by_column in reversed(ctx.steps):
            # The plan after either half iteration, with sums of 1: the derivative of the logarithms of sums.
            shares = _exp(log_kernel, by_row, by_column + columns)
            of_row -= shares @ of_column
            of_kernel -= shares.mul_(of_column)
            shares = _exp(log_kernel, by_row + rows, before)
            of_column = -(of_row @ shares)
            of_kernel -= shares.mul_(of_row[:, None])
            of_row = torch.zeros_like(of_row)
        return gradients[0] * (plan - of_kernel / ctx.regularisation), None, None


def _log_sums(log_kernel: Tensor, shift: Tensor) -> Tensor:
    """Return log sum_j exp(log_kernel_ij + shift_j) [n]."""
    values = log_kernel + shift
    top = values.amax(1, keepdim=True)
    return values.sub_(top).clamp_min_(LOWEST).exp_().sum(1).log_().add_(top[:, 0])


def _exp(log_kernel: Tensor, by_row: Tensor, by_column: Tensor) -> Tensor:
    return (log_kernel + by_column).add_(by_row[:, None]).clamp_min_(LOWEST).exp_()
