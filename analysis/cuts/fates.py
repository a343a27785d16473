"""When each direction of each edge went."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glt.masks import EdgeMask


def removal_rounds(masks: Sequence[EdgeMask]) -> NDArray[np.int16]:
    """Return [2, E] the round in which each direction went for good, 0 where it survives the last of `masks`.

    `masks` are those of rounds 0, 1, ...; row 0 is the message from the lower node to the higher one. Under a method
    whose rounds are not nested a direction may have been away before and come back: the last time counts.

    >>> once = [EdgeMask("undirected", np.array(keep)) for keep in ([1, 1, 1], [1, 0, 0], [1, 1, 0])]
    >>> removal_rounds(once)[0].tolist()
    [0, 0, 1]
    """
    # Two bytes are enough: of a large graph several of these are kept.
    gone = np.zeros((2, masks[0].num_edges), dtype=np.int16)
    for number, mask in enumerate(masks):
        alive = mask.directions()
        gone[alive] = 0
        gone[~alive & (gone == 0)] = number
    return gone
