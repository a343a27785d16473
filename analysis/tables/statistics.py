"""Student's t over seeds: intervals of a mean and the p-value of a paired difference."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

FloatArray = NDArray[np.float64]
LEVEL = 0.95


def half_width(deviation: ArrayLike, count: ArrayLike, level: float = LEVEL) -> FloatArray:
    """Return the half-width of the t interval of a mean; NaN where fewer than two values stand behind it.

    `deviation` is the sample standard deviation (n - 1 in the denominator) of `count` values.

    >>> half_width([0.01, 0.0], [5, 1]).round(5).tolist()
    [0.01242, nan]
    """
    counts = np.asarray(count, dtype=np.float64)
    several = np.where(counts > 1, counts, np.nan)
    return np.asarray(stdtrit(several - 1, (1 + level) / 2) * np.asarray(deviation) / np.sqrt(several))


def p_value(mean: ArrayLike, deviation: ArrayLike, count: ArrayLike) -> FloatArray:
    """Return the two-sided p-value of "the mean difference is 0"; NaN for one value or when all values are 0.

    >>> p_value([0.01], [0.01], [5]).round(4).tolist()
    [0.089]
    """
    counts = np.asarray(count, dtype=np.float64)
    several = np.where(counts > 1, counts, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.asarray(mean) / (np.asarray(deviation) / np.sqrt(several))
    return np.asarray(2 * stdtr(several - 1, -np.abs(t)))
