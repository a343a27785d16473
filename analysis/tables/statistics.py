"""Student's t over seeds: intervals of a mean and the p-value of a paired difference."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

FloatArray = NDArray[np.float64]
LEVEL = 0.95
# Two values give a t interval nine times their standard deviation wide on each side: it says nothing, and hides all.
FEWEST = 3


def deviation_of(values: ArrayLike) -> float:
    """Return the sample standard deviation, NaN for a single value; of equal values it is exactly 0.

    >>> deviation_of([0.1, 0.1, 0.1]), deviation_of([1.0, 3.0]).__round__(3)
    (0.0, 1.414)
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size < 2:
        return math.nan
    # The mean of equal values may lie off them by their last digit.
    return 0.0 if (numbers == numbers[0]).all() else float(numbers.std(ddof=1))


def half_width(deviation: ArrayLike, count: ArrayLike, level: float = LEVEL) -> FloatArray:
    """Return the half-width of the t interval of a mean; NaN where fewer than FEWEST values stand behind it.

    `deviation` is the sample standard deviation (n - 1 in the denominator) of `count` values.

    >>> half_width([0.01, 0.01, 0.0], [5, 2, 1]).round(5).tolist()
    [0.01242, nan, nan]
    """
    several = _enough(count)
    return np.asarray(stdtrit(several - 1, (1 + level) / 2) * np.asarray(deviation) / np.sqrt(several))


def p_value(mean: ArrayLike, deviation: ArrayLike, count: ArrayLike) -> FloatArray:
    """Return the two-sided p-value of "the mean difference is 0"; NaN below FEWEST values or when all values are 0.

    >>> p_value([0.01], [0.01], [5]).round(4).tolist()
    [0.089]
    """
    several = _enough(count)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.asarray(mean) / (np.asarray(deviation) / np.sqrt(several))
    return np.asarray(2 * stdtr(several - 1, -np.abs(t)))


def seeds_words(seeds: int, noun: str = "seed") -> str:
    """Say over how many seeds a mean is, and that so few give no interval.

    >>> seeds_words(5), seeds_words(2), seeds_words(1)
    ('mean of 5 seeds, 95% interval', 'mean of 2 seeds, too few for an interval', '1 seed, no interval')
    """
    if seeds == 1:
        return f"1 {noun}, no interval"
    return f"mean of {seeds} {noun}s, {'95% interval' if seeds >= FEWEST else 'too few for an interval'}"


def _enough(count: ArrayLike) -> FloatArray:
    counts = np.asarray(count, dtype=np.float64)
    return np.asarray(np.where(counts >= FEWEST, counts, np.nan))
