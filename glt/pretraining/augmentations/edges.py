"""Edge perturbation: drop edges, and add as many between nodes that had none."""

from __future__ import annotations

import numpy as np

from glt.data.graph import Graph, IntArray
from glt.errors import DataError
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.augmentations.base import Augmentation, View, changed, everything


class EdgePerturbation(Augmentation):
    """The number of edges stays; what was dropped is not added again."""

    name = "edges"
    label = "Edge perturbation"
    description = "Drops a share of the edges and adds as many new ones."

    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Draw which edges go and which pairs without an edge get one, both uniformly."""
        count = changed(share, graph.num_edges, "edges")
        kept = np.ones(graph.num_edges, dtype=np.bool_)
        kept[generator.choice(graph.num_edges, count, replace=False)] = False
        edges = np.concatenate([graph.edges[:, kept], new_edges(graph, count, generator)], axis=1)
        order = np.lexsort(edges[::-1])
        return View(edges[:, order], everything(graph), everything(graph))


def new_edges(graph: Graph, count: int, generator: np.random.Generator) -> IntArray:
    """Return `count` distinct pairs [2, count] without an edge; raises DataError when there are fewer.

    Pairs i < j are numbered row by row. The r-th pair without an edge has the number r plus the edges before it, so
    nothing as large as the number of pairs is made.
    """
    nodes = graph.num_nodes
    free = nodes * (nodes - 1) // 2 - graph.num_edges
    if free < count:
        raise DataError(
            f"{graph.name} has only {free} pairs of nodes without an edge, too few to add {count}: "
            "lower share, or choose another augmentation."
        )
    rows = np.arange(nodes)
    starts = rows * (2 * nodes - rows - 1) // 2
    low, high = graph.edges
    taken = starts[low] + high - low - 1
    ranks = generator.choice(free, count, replace=False)
    numbers = ranks + np.searchsorted(taken - np.arange(taken.size), ranks, side="right")
    first = np.searchsorted(starts, numbers, side="right") - 1
    # The last row has no pairs, so it starts where the row before it ends: no number lies in it.
    return np.stack([first, numbers - starts[first] + first + 1]).astype(np.int64)


AUGMENTATIONS.register(EdgePerturbation())
