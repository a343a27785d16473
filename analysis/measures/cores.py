"""How tightly the densest part of a graph holds together."""

from __future__ import annotations

import numpy as np

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure


def largest_core(graph: MeasuredGraph) -> int:
    """Largest k for which a part of the graph has only nodes with k neighbours or more inside it; 0 without edges.

    It is the largest core number (Seidman, 1983), found by peeling: nodes of the lowest degree go, all at once, until
    none is left. It moves in whole steps, so read it with the number of triangles.
    """
    core, left = 0, graph.degrees.copy()
    inside = left > 0
    while inside.any():
        core = max(core, int(left[inside].min()))
        peeled = np.flatnonzero(inside & (left <= core))
        inside[peeled] = False
        left -= np.bincount(graph.adjacency[peeled].indices, minlength=left.size)
    return core


MEASURES.register(Measure("largest_core", "Largest core number", "", "instant", 25, largest_core))
