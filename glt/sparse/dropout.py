"""Dropout with cheap random numbers, alone and fused with ReLU and a linear map."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from glt.config import Activation
from glt.sparse.spmm import linear


class Dropout:
    """Zeroes elements with probability `rate`.

    The others are scaled by `factor` = 1 / (1 - rate). Numbers come from a NumPy generator on every device, so a seed
    means the same everywhere. At rate 0.5 an element costs one random bit; torch's own dropout spends most of its time
    drawing 32 bits each.
    """

    def __init__(self, rate: float, generator: np.random.Generator | None) -> None:
        self._rate = rate
        self._generator = generator
        self.factor = 1 / (1 - rate)

    def __call__(self, dense: Tensor) -> Tensor:
        """Return `dense` with dropout, or itself at rate 0 or without a generator."""
        keep = self.keep(dense)
        if keep is None:
            return dense
        # A whole factor keeps the scale in one byte per element.
        return dense * (keep * (int(self.factor) if self.factor.is_integer() else self.factor))

    def replayed(self) -> Dropout:
        """Return a dropout that draws the same numbers at every call, for recomputed layers."""
        if self._generator is None or self._rate == 0:
            return self
        return _Replayed(self._rate, self._generator)

    def among(self, nodes: NDArray[np.int64], count: int) -> Dropout:
        """Return a dropout for the rows of `nodes` that draws for all `count` nodes."""
        return _OfRows(self._rate, self._generator, nodes, count)

    def keep(self, dense: Tensor) -> Tensor | None:
        """Draw which elements stay, as uint8 0 and 1; None if nothing is dropped."""
        if self._generator is None or self._rate == 0:
            return None
        rows = dense.shape[0] if dense.dim() else 1
        drawn = self._draw(self._generator, rows, dense.numel() // max(rows, 1))
        return torch.from_numpy(drawn).view(dense.shape).to(dense.device)

    def _draw(self, generator: np.random.Generator, rows: int, width: int) -> NDArray[np.uint8]:
        if self._rate == 0.5:
            return np.unpackbits(_random_bytes(generator, rows * width), count=rows * width)
        return (generator.random(rows * width, dtype=np.float32) >= self._rate).astype(np.uint8)


class _Replayed(Dropout):
    """Starts again from the same seed at every call."""

    def __init__(self, rate: float, generator: np.random.Generator) -> None:
        super().__init__(rate, generator)
        self._seed = int.from_bytes(generator.bytes(16), "little")

    def keep(self, dense: Tensor) -> Tensor | None:
        self._generator = np.random.Generator(np.random.SFC64(self._seed))
        return super().keep(dense)


class _OfRows(Dropout):
    """Draws for `count` rows and keeps the draws of some nodes."""

    def __init__(
        self, rate: float, generator: np.random.Generator | None, nodes: NDArray[np.int64], count: int
    ) -> None:
        super().__init__(rate, generator)
        self._nodes = nodes
        self._count = count

    def _draw(self, generator: np.random.Generator, rows: int, width: int) -> NDArray[np.uint8]:
        if self._rate == 0.5 and width % 8 == 0:
            # Rows are whole bytes: only those needed are unpacked.
            packed = _random_bytes(generator, self._count * width).reshape(self._count, width // 8)
            return np.unpackbits(packed[self._nodes], axis=1)
        return super()._draw(generator, self._count, width).reshape(self._count, width)[self._nodes]


def _random_bytes(generator: np.random.Generator, bits: int) -> NDArray[np.uint8]:
    return np.frombuffer(generator.bytes((bits + 7) // 8), dtype=np.uint8)


def hidden_linear(hidden: Tensor, weight: Tensor, dropout: Dropout, activation: Activation = "relu") -> Tensor:
    """Return dropout(activation(hidden)) @ weight for hidden [N, H] and weight [H, C].

    With ReLU, `hidden` is overwritten: an epoch is bound by memory, and another array of hidden rows would push others
    out of the cache. Without dropout the call may be repeated with the same result; with dropout a second use raises
    where its gradient would be wrong.
    """
    if activation == "none":
        return linear(dropout(hidden), weight)
    keep = dropout.keep(hidden)
    if keep is not None:
        result: Tensor = _HiddenLinear.apply(hidden, weight, keep, dropout.factor)[1]  # type: ignore[no-untyped-call]
        return result
    return linear(hidden.relu() if torch.is_grad_enabled() else hidden.relu_(), weight)


class _HiddenLinear(torch.autograd.Function):
    """Scales the weights by 1 / (1 - rate) instead of the rows, which are more."""

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
            # What is positive after ReLU and dropout was passed by both.
            torch.ops.aten.threshold_backward.grad_input(to_hidden, hidden, 0, grad_input=to_hidden)
        if ctx.needs_input_grad[1]:
            to_weight = (gradient.t() @ hidden).t() * ctx.factor
        return to_hidden, to_weight, None, None
