"""The neighbourhood of one node."""

from __future__ import annotations

import numpy as np

from analysis.subgraphs.growing import grow
from analysis.subgraphs.samplers import SAMPLERS, Choice, Sampler
from glt.data.graph import IntArray


def ego(choice: Choice) -> IntArray:
    """Take the nodes nearest to the center; of the last ring as many as fit, at random."""
    return grow(choice.neighbours, np.array([choice.center]), choice.size, choice.generator)


SAMPLERS.register(Sampler("ego", "Ego network", "The nodes nearest to a centre", 20, ego, frozenset({"center"})))
