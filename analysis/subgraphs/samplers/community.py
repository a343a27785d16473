"""A densely linked group."""

from __future__ import annotations

from analysis.subgraphs.communities import community_of
from analysis.subgraphs.growing import fill
from analysis.subgraphs.samplers import SAMPLERS, Choice, Sampler
from glt.data.graph import IntArray


def community(choice: Choice) -> IntArray:
    """Grow inside the community of the center (modularity, Blondel et al. 2008)."""
    inside = community_of(choice.graph, choice.center)
    return fill(choice.neighbours, choice.center, choice.size, choice.generator, inside)


ABOUT = "A densely linked group around a centre"
SAMPLERS.register(Sampler("community", "Community", ABOUT, 40, community, frozenset({"center"})))
