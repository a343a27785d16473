"""When each direction of each edge went, and by what cause."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.data import Graph
from glt.masks import EdgeMask
from glt.methods.base import Cause
from glt.removal_causes import cause_of, had_gradient, removed_in

# What the numbers of `removal_causes` stand for; 0: the direction survives, or its cause is not known.
CAUSES: tuple[Cause | None, ...] = (None, "gradient", "no gradient", "score", "random", "solver")


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


def removal_causes(config: RunConfig, graph: Graph, masks: Sequence[EdgeMask]) -> NDArray[np.int8]:
    """Return [2, E] what decided that each direction went for good, as places in CAUSES; see `removal_rounds`.

    `graph` is the one that carries the run's messages. A removal that came back later does not count.
    """
    causes = np.zeros(masks[0].keep.size, dtype=np.int8)
    for before, after in pairwise(masks):
        causes[after.keep] = 0
        # A direction that was gone before keeps the cause of the round in which it went.
        removed = removed_in(config, before, after) & (causes == 0)
        gradient = had_gradient(config, graph, before)
        if gradient is None:
            causes[removed] = CAUSES.index(cause_of(config, None))
        else:
            codes = [CAUSES.index(cause_of(config, known)) for known in (False, True)]
            causes[removed] = np.where(gradient[removed], codes[1], codes[0])
    return causes.reshape(2, -1) if masks[0].kind == "directed" else np.stack([causes, causes])
