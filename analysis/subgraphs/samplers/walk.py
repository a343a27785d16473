"""Nodes met on a random walk."""

from __future__ import annotations

import numpy as np

from analysis.subgraphs.growing import grow
from analysis.subgraphs.samplers import SAMPLERS, Choice, Sampler
from glt.data.graph import IntArray

RETURN_PROBABILITY = 0.15
STEPS_PER_NODE = 30


def walk(choice: Choice) -> IntArray:
    """Walk at random, return to the center now and then, and keep every node met.

    A walk that goes round in circles is filled up by growing around what it met.
    """
    found = {choice.center: None}
    here = choice.center
    for _ in range(STEPS_PER_NODE * choice.size):
        nearby = choice.neighbours.of_node(here)
        if len(found) == choice.size or nearby.size == 0:
            break
        here = int(choice.generator.choice(nearby))
        found[here] = None
        if choice.generator.random() < RETURN_PROBABILITY:
            here = choice.center
    return grow(choice.neighbours, np.fromiter(found, dtype=np.int64), choice.size, choice.generator)


ABOUT = "Nodes met on a walk that returns to its centre"
SAMPLERS.register(Sampler("walk", "Random walk", ABOUT, 10, walk, frozenset({"center"})))
