"""Dropout whose random numbers are cheap: at rate one half, one random bit an element."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor


class _Scale(torch.autograd.Function):
    """Multiply by a constant that autograd need not copy to the input's type."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, scale: Tensor) -> Tensor:
        ctx.scale = scale
        return dense * scale

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0] * ctx.scale, None


class Dropout:
    """Zero each element with probability `rate` and scale the others by 1 / (1 - rate).

    The numbers come from a NumPy generator on every device, so a seed means the same everywhere.
    Torch's own dropout spends most of its time drawing one 32-bit number an element.
    """

    def __init__(self, rate: float, generator: np.random.Generator | None) -> None:
        self._rate = rate
        self._generator = generator

    def __call__(self, dense: Tensor) -> Tensor:
        """Return `dense` with dropout applied, or itself where the rate is 0 or no generator was given."""
        if self._generator is None or self._rate == 0:
            return dense
        scale = self._scale(self._generator, dense.shape)
        result: Tensor = _Scale.apply(dense, scale.to(dense.device))  # type: ignore[no-untyped-call]
        return result

    def _scale(self, generator: np.random.Generator, shape: torch.Size) -> Tensor:
        count = shape.numel()
        if self._rate == 0.5:
            packed = np.frombuffer(generator.bytes((count + 7) // 8), dtype=np.uint8)
            doubled = np.left_shift(np.unpackbits(packed, count=count), 1)
            return torch.from_numpy(doubled).view(shape)
        kept = generator.random(count, dtype=np.float32) >= self._rate
        return torch.from_numpy(kept * np.float32(1 / (1 - self._rate))).view(shape)
