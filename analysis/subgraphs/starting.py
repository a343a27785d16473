"""Where a sample starts when nobody says where."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glt.data.graph import Graph


def random_start(graph: Graph, generator: Generator, label: int | None) -> int:
    """Return an end of a random edge (so rather a hub), inside a class when `label` names one."""
    ends = graph.edges.ravel()
    nodes = np.arange(graph.num_nodes)
    if label is not None:
        ends, nodes = ends[graph.labels[ends] == label], nodes[graph.labels == label]
    return int(generator.choice(ends if ends.size else nodes))
