"""Lines of more points than a screen has dots: what is drawn of them, so that they look the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def drawn_places(columns: ArrayLike, most: int) -> NDArray[np.intp]:
    """Return the rows to draw, in order, of lines [n, m] that share their places: all of at most `most` rows.

    Of more rows, the first, the last, and the lowest and the highest value of every line in each of `most` / 2m
    stretches of equal length, so that no peak is lost. Values may be NaN.

    >>> drawn_places([[0.0], [1.0], [9.0], [1.0], [0.0], [1.0], [2.0], [1.0]], 4)
    array([0, 2, 4, 6, 7])
    """
    values = np.asarray(columns, float)
    rows, lines = values.shape
    if rows <= most:
        return np.arange(rows)
    stretches = max(most // (2 * lines), 1)
    width = -(-rows // stretches)
    begins = np.arange(stretches)[:, None] * width
    lowest = begins + _stretched(values, stretches, width, np.inf).argmin(axis=1)
    highest = begins + _stretched(values, stretches, width, -np.inf).argmax(axis=1)
    places = np.unique(np.concatenate([[0, rows - 1], lowest.ravel(), highest.ravel()]))
    within: NDArray[np.intp] = places[places < rows]
    return within


def _stretched(values: NDArray[np.float64], stretches: int, width: int, filled: float) -> NDArray[np.float64]:
    """Return values [stretches, width, m], with `filled` where there is none."""
    whole = np.full((stretches * width, values.shape[1]), filled)
    whole[: len(values)] = np.where(np.isnan(values), filled, values)
    return whole.reshape(stretches, width, -1)
