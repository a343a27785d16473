"""What a view of a graph is, and what every augmentation must say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from glt.data.graph import Graph, IntArray
from glt.errors import DataError
from glt.masks import BoolArray, prune_count


@dataclass(frozen=True, eq=False)
class View:
    """A changed graph over the same N nodes, so that it shares the features.

    `edges` is [2, E'] as in Graph. Nodes that are no `members` [N] have left: no edges, and no part in the summary.
    The features of nodes that are not `visible` [N] count as zero.
    """

    edges: IntArray
    members: BoolArray
    visible: BoolArray


class Augmentation(ABC):
    """One way to draw a view."""

    name: str
    label: str
    description: str

    @abstractmethod
    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Draw a view that changes a `share` of the graph; raises DataError where there is too little to change."""


def changed(share: float, total: int, things: str) -> int:
    """Return floor(share * total); raises DataError when that is nothing at all.

    >>> changed(0.2, 14, "nodes")
    2
    """
    count = prune_count(share, total)
    if count == 0:
        raise DataError(
            f"A share of {share} of {total} {things} is none, so both views would be the graph itself: "
            "raise share, or choose another augmentation."
        )
    return count


def everything(graph: Graph) -> BoolArray:
    """Return [N] of True: every node."""
    return np.ones(graph.num_nodes, dtype=np.bool_)


def all_but(graph: Graph, share: float, generator: np.random.Generator) -> BoolArray:
    """Return [N] that is False at a drawn share of the nodes."""
    kept = everything(graph)
    kept[generator.choice(graph.num_nodes, changed(share, graph.num_nodes, "nodes"), replace=False)] = False
    return kept


def induced(graph: Graph, members: BoolArray) -> IntArray:
    """Return the edges [2, E'] whose two ends are members."""
    return graph.edges[:, members[graph.edges].all(axis=0)]
