"""Edge scores as ranks of one byte: where in the order of all an entry stands, in 256 steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glt.masks import BoolArray

Bytes = NDArray[np.uint8]
RANKS = 256


def quantised_ranks(scores: NDArray[np.floating], kept: BoolArray) -> Bytes:
    """Return ranks in 256 steps; of equal scores those that were cut come first, then the lower index.

    The first entry above the line begins a step of its own, so that no entry that was cut shares one with it.

    >>> quantised_ranks(np.array([0.3, 0.1, 0.1], dtype=np.float32), np.array([True, True, False])).tolist()
    [170, 85, 0]
    """
    steps = _parted(np.arange(scores.size) * RANKS // max(scores.size, 1), scores.size - int(kept.sum()))
    ranks = np.empty(scores.size, dtype=np.uint8)
    ranks[np.lexsort((kept, scores))] = steps
    return ranks


def shared_ranks(scores: NDArray[np.floating], cut: int) -> Bytes:
    """Return ranks in 256 steps, equal for equal scores, the lowest `cut` of which were cut.

    Nothing above the line shares a step with what was cut, unless its score is that of the last entry cut.

    >>> shared_ranks(np.array([0.3, 0.1, 0.1, 0.2], dtype=np.float32), 2).tolist()
    [192, 0, 0, 128]
    """
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    steps = (np.cumsum(counts) - counts) * RANKS // max(scores.size, 1)
    cuts_some = 0 < cut < scores.size
    above = int(place[np.argpartition(scores, cut - 1)[cut - 1]]) + 1 if cuts_some else 0
    ranks: Bytes = _parted(steps, above).astype(np.uint8)[place]
    return ranks


def _parted(steps: NDArray[np.int64], above: int) -> NDArray[np.int64]:
    """Have those from place `above` on, which were not cut, begin with a step of their own."""
    if not 0 < above < steps.size:
        return steps
    line = min(int(steps[above - 1]) + 1, RANKS - 1)
    return np.concatenate([steps[:above].clip(max=line - 1), steps[above:].clip(min=line)])


def as_floats(ranks: Bytes) -> NDArray[np.float32]:
    """Return ranks of one byte as numbers in [0, 1)."""
    return ranks.astype(np.float32) / np.float32(RANKS)
