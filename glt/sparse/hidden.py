"""Hidden layers: ReLU, dropout and the product with weights as one step that works in its input's memory.

An epoch is bound by memory, not by arithmetic: every further array of hidden rows pushes others out of the cache.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from glt.config import Activation
from glt.sparse.dropout import Dropout
from glt.sparse.linear import linear


class _HiddenLinear(torch.autograd.Function):
    """The factor 1 / (1 - rate) is applied to the weights, which are few, and not to the rows."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, keep: Tensor, factor: float) -> tuple[Tensor, Tensor]:
        hidden.relu_().mul_(keep)
        scaled = weight * factor
        ctx.mark_dirty(hidden)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(hidden, scaled)
        ctx.factor = factor
        return hidden, functional.linear(hidden, scaled.t().contiguous())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        hidden, scaled = ctx.saved_tensors
        gradient = gradients[1]
        to_hidden = to_weight = None
        if gradient is None:
            return None, None, None, None
        if ctx.needs_input_grad[0]:
            to_hidden = gradient @ scaled.t()
            # What is positive after both steps was let through by both.
            torch.ops.aten.threshold_backward.grad_input(to_hidden, hidden, 0, grad_input=to_hidden)
        if ctx.needs_input_grad[1]:
            to_weight = (gradient.t() @ hidden).t() * ctx.factor
        return to_hidden, to_weight, None, None


def hidden_linear(hidden: Tensor, weight: Tensor, dropout: Dropout, activation: Activation = "relu") -> Tensor:
    """Return dropout(activation(hidden)) @ weight for hidden [N, H] and weight [H, C].

    With ReLU, `hidden` is overwritten: without dropout by its ReLU, after which the call may be repeated with the
    same result; with dropout by what is left of it, so that a second use raises where its gradient would be wrong.
    """
    if activation == "none":
        return linear(dropout(hidden), weight)
    keep = dropout.keep(hidden)
    if keep is not None:
        result: Tensor = _HiddenLinear.apply(hidden, weight, keep, dropout.factor)[1]  # type: ignore[no-untyped-call]
        return result
    return linear(hidden.relu() if torch.is_grad_enabled() else hidden.relu_(), weight)
