"""Dropout whose random numbers are cheap: at rate one half, one random bit an element."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Dropout:
    """Zero each element with probability `rate` and scale the others by `factor`, 1 / (1 - rate).

    The numbers come from a NumPy generator on every device, so a seed means the same everywhere.
    Torch's own dropout spends most of its time drawing one 32-bit number an element.
    """

    def __init__(self, rate: float, generator: np.random.Generator | None) -> None:
        self._rate = rate
        self._generator = generator
        self.factor = 1 / (1 - rate)

    def __call__(self, dense: Tensor) -> Tensor:
        """Return `dense` with dropout applied, or itself where the rate is 0 or no generator was given."""
        keep = self.keep(dense)
        if keep is None:
            return dense
        # A factor that is a whole number keeps the scale in one byte an element.
        return dense * (keep * (int(self.factor) if self.factor.is_integer() else self.factor))

    def replayed(self) -> Dropout:
        """Return a dropout whose every call draws the same numbers, for a layer that is computed a second time."""
        if self._generator is None or self._rate == 0:
            return self
        return _Replayed(self._rate, self._generator)

    def keep(self, dense: Tensor) -> Tensor | None:
        """Draw which elements of `dense` stay, as 0 and 1 (uint8); None where nothing is to be dropped."""
        if self._generator is None or self._rate == 0:
            return None
        return torch.from_numpy(self._draw(self._generator, dense.numel())).view(dense.shape).to(dense.device)

    def _draw(self, generator: np.random.Generator, count: int) -> NDArray[np.uint8]:
        if self._rate == 0.5:
            packed = np.frombuffer(generator.bytes((count + 7) // 8), dtype=np.uint8)
            return np.unpackbits(packed, count=count)
        return (generator.random(count, dtype=np.float32) >= self._rate).astype(np.uint8)


class _Replayed(Dropout):
    """Dropout that starts again from the same seed at every call."""

    def __init__(self, rate: float, generator: np.random.Generator) -> None:
        super().__init__(rate, generator)
        self._seed = int.from_bytes(generator.bytes(16), "little")

    def keep(self, dense: Tensor) -> Tensor | None:
        """Draw the same elements each time."""
        self._generator = np.random.Generator(np.random.SFC64(self._seed))
        return super().keep(dense)
