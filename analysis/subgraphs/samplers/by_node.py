"""Nodes asked for by name."""

from __future__ import annotations

import numpy as np

from analysis.subgraphs.samplers import SAMPLERS, Choice, Sampler
from glt.data.graph import IntArray


def by_node(choice: Choice) -> IntArray:
    """Take the nodes asked for and their neighbours; of the neighbours as many as fit, at random."""
    around = np.setdiff1d(choice.neighbours.of_nodes(choice.nodes), choice.nodes)
    room = max(choice.size - choice.nodes.size, 0)
    if around.size > room:
        around = choice.generator.choice(around, room, replace=False)
    return np.concatenate([choice.nodes, around])


SAMPLERS.register(Sampler("nodes", "By node", "Nodes you name and their neighbours", 60, by_node, frozenset({"nodes"})))
