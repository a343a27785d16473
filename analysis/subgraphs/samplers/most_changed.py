"""Where most edges went."""

from __future__ import annotations

import numpy as np

from analysis.subgraphs.growing import Neighbours, fill
from analysis.subgraphs.samplers import SAMPLERS, Choice, Sampler
from glt.data.graph import IntArray


def most_changed(choice: Choice) -> IntArray:
    """Grow along removed edges from the node that lost most of them, then from others that lost some.

    Draw 0 starts at the node that lost most, draw 1 at the next one, and so on. Nodes that lost nothing are left out;
    before anything is removed, the nodes nearest to the node of highest degree stand for it.
    """
    cut = choice.graph.edges[:, choice.cut]
    lost = np.bincount(cut.ravel(), minlength=choice.graph.num_nodes)
    along = Neighbours.over(cut, choice.graph.num_nodes) if cut.size else choice.neighbours
    inside = lost > 0 if cut.size else np.ones(lost.size, dtype=np.bool_)
    weight = lost if cut.size else np.diff(choice.neighbours.first)
    start = np.argsort(-weight, kind="stable")[min(choice.draw, int(inside.sum()) - 1)]
    return fill(along, int(start), choice.size, choice.generator, inside)


ABOUT = "The nodes that lost most edges by the round shown; the draw starts at another one of them"
SAMPLERS.register(Sampler("changed", "Most changed", ABOUT, 50, most_changed, frozenset({"cut"})))
