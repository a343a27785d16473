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

    def among(self, nodes: NDArray[np.int64], count: int) -> Dropout:
        """Return a dropout for the rows of some nodes that drops of each what it would among all `count` nodes."""
        return _OfRows(self._rate, self._generator, nodes, count)

    def keep(self, dense: Tensor) -> Tensor | None:
        """Draw which elements of `dense` stay, as 0 and 1 (uint8); None where nothing is to be dropped."""
        if self._generator is None or self._rate == 0:
            return None
        return torch.from_numpy(self._draw(self._generator, *_rows_and_width(dense))).view(dense.shape).to(dense.device)

    def _draw(self, generator: np.random.Generator, rows: int, width: int) -> NDArray[np.uint8]:
        if self._rate == 0.5:
            return np.unpackbits(_packed(generator, rows * width), count=rows * width)
        return (generator.random(rows * width, dtype=np.float32) >= self._rate).astype(np.uint8)


class _Replayed(Dropout):
    """Dropout that starts again from the same seed at every call."""

    def __init__(self, rate: float, generator: np.random.Generator) -> None:
        super().__init__(rate, generator)
        self._seed = int.from_bytes(generator.bytes(16), "little")

    def keep(self, dense: Tensor) -> Tensor | None:
        """Draw the same elements each time."""
        self._generator = np.random.Generator(np.random.SFC64(self._seed))
        return super().keep(dense)


class _OfRows(Dropout):
    """Dropout that draws for `count` rows, of which only those of some nodes are there."""

    def __init__(
        self, rate: float, generator: np.random.Generator | None, nodes: NDArray[np.int64], count: int
    ) -> None:
        super().__init__(rate, generator)
        self._nodes = nodes
        self._count = count

    def _draw(self, generator: np.random.Generator, rows: int, width: int) -> NDArray[np.uint8]:
        if self._rate == 0.5 and width % 8 == 0:
            # Whole bytes a row: only the rows that are there need be unpacked.
            packed = _packed(generator, self._count * width).reshape(self._count, width // 8)
            return np.unpackbits(packed[self._nodes], axis=1)
        return super()._draw(generator, self._count, width).reshape(self._count, width)[self._nodes]


def _rows_and_width(dense: Tensor) -> tuple[int, int]:
    rows = dense.shape[0] if dense.dim() else 1
    return rows, dense.numel() // max(rows, 1)


def _packed(generator: np.random.Generator, bits: int) -> NDArray[np.uint8]:
    return np.frombuffer(generator.bytes((bits + 7) // 8), dtype=np.uint8)
