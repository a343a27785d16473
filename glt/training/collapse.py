"""A training that collapses: validation falls to what a guess would score, and stays there to the end.

A penalty on masks that goes on after they have reached zero is the usual reason: the network's weights and messages are
multiplied by next to nothing, and its output no longer depends on its input.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# One-sided normal quantile: a guess scores higher by luck in one case of twenty.
QUANTILE = 1.645
# Staying at chance takes more than one look.
FEWEST = 2

Counts = NDArray[np.integer]


@dataclass(frozen=True)
class Chance:
    """The validation score of a guess, and how much more luck gives it in one case of twenty; both fractions."""

    level: float
    margin: float

    @property
    def bound(self) -> float:
        """The highest score that counts as chance."""
        return self.level + self.margin


def accuracy_by_chance(labels: NDArray[np.integer]) -> Chance | None:
    """Return what the best constant guess scores on nodes with these `labels`: the share of the largest class.

    The margin is that of a share of n nodes, 1.645 sqrt(c (1 - c) / n). Labels below 0 are unknown and always wrong.

    >>> chance = accuracy_by_chance(np.array([0, 0, 0, 1]))
    >>> chance.level, round(chance.margin, 3)
    (0.75, 0.356)
    """
    known = labels[labels >= 0]
    if not known.size:
        return None
    level = int(np.bincount(known).max()) / labels.size
    return Chance(level, QUANTILE * math.sqrt(level * (1 - level) / labels.size))


def auc_by_chance(positives: Counts, negatives: Counts) -> Chance | None:
    """Return what a guess scores as ROC-AUC, averaged over tasks with so many positives and negatives each: one half.

    The margin is 1.645 standard deviations of Mann and Whitney's U, sqrt((p + n + 1) / (12 p n)), its mean over tasks:
    as if all were decided by the same luck.

    >>> chance = auc_by_chance(np.array([50]), np.array([50]))
    >>> chance.level, round(chance.margin, 3)
    (0.5, 0.095)
    """
    both = (positives > 0) & (negatives > 0)
    if not both.any():
        return None
    p, n = positives[both].astype(np.float64), negatives[both].astype(np.float64)
    return Chance(0.5, QUANTILE * float(np.sqrt((p + n + 1) / (12 * p * n)).mean()))


def hits_by_chance(positives: int, negatives: int, at: int) -> Chance | None:
    """Return what a guess scores as Hits@K: the K-th highest of m negatives leaves K / (m + 1) above it on average.

    The margin holds both the luck of the threshold (a Beta distribution) and that of the positives.

    >>> hits_by_chance(100, 499, 50).level
    0.1
    """
    if not positives or negatives < at:
        return None
    level = at / (negatives + 1)
    threshold = level * (1 - level) / (negatives + 2)
    return Chance(level, QUANTILE * math.sqrt(threshold + (level * (1 - level) - threshold) / positives))


def at_chance_from(scores: NDArray[np.floating], chance: Chance) -> int | None:
    """Return the place in a stage's validation `scores` from which all are at chance to the end, None if there is none.

    0 means that none was ever above. A last score alone does not count.

    >>> at_chance_from(np.array([0.3, 0.8, 0.3, 0.2]), Chance(0.3, 0.05))
    2
    >>> at_chance_from(np.array([0.3, 0.8, 0.8, 0.2]), Chance(0.3, 0.05)) is None
    True
    """
    above = np.flatnonzero(scores > chance.bound)
    first = int(above[-1]) + 1 if above.size else 0
    return first if scores.size - first >= FEWEST else None
