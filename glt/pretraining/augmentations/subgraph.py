"""Subgraph: the nodes that a random walk reaches."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from glt.data.graph import Graph
from glt.masks import BoolArray
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.augmentations.base import Augmentation, View, changed, everything, induced


class Subgraph(Augmentation):
    """A share of the nodes is left out: those a walk over the others has not reached."""

    name = "subgraph"
    label = "Subgraph"
    description = "Keeps what a random walk reaches, all but a share of the nodes."

    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Walk until all but the share of the nodes are reached."""
        members = walked(graph, graph.num_nodes - changed(share, graph.num_nodes, "nodes"), generator)
        return View(induced(graph, members), members, everything(graph))


def walked(graph: Graph, count: int, generator: np.random.Generator) -> BoolArray:
    """Return [N] that is True at `count` nodes reached by a walk that never steps on a node twice.

    Each step goes to a random one of the new neighbours of all nodes reached so far, as in GraphCL's own sampling;
    where there is none left, the walk starts again at a random node.
    """
    source, target = graph.entries()
    size = (graph.num_nodes, graph.num_nodes)
    adjacency = csr_array((np.ones(source.size, dtype=np.bool_), (source, target)), shape=size)
    starts, draws = generator.permutation(graph.num_nodes), generator.random(count)
    reached, seen = np.zeros(graph.num_nodes, dtype=np.bool_), np.zeros(graph.num_nodes, dtype=np.bool_)
    waiting: list[int] = []
    next_start = 0
    for draw in draws:
        if not waiting:
            next_start += int(np.argmin(seen[starts[next_start:]]))
            waiting.append(int(starts[next_start]))
            seen[starts[next_start]] = True
        chosen = int(draw * len(waiting))
        waiting[chosen], waiting[-1] = waiting[-1], waiting[chosen]
        node = waiting.pop()
        reached[node] = True
        neighbours = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        new = neighbours[~seen[neighbours]]
        seen[new] = True
        waiting.extend(new.tolist())
    return reached


AUGMENTATIONS.register(Subgraph())
