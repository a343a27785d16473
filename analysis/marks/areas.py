"""Marker area after MACs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

SMALLEST_AREA = 0.12
KEY_SHARES = (1.0, 0.25, 0.05)


def area_share(macs: ArrayLike, largest: float) -> NDArray[np.float64]:
    """Return each marker's share of the largest area: affine in MACs, so that the cheapest round is still seen.

    >>> area_share([0, 500, 1000], 1000).tolist()
    [0.12, 0.56, 1.0]
    """
    return SMALLEST_AREA + (1 - SMALLEST_AREA) * np.asarray(macs, dtype=np.float64) / largest
