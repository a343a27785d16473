"""Ways to sort edges and nodes into groups that may lose more or less than others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.cuts.edges_of import degrees
from analysis.subgraphs.subgraph import class_names, has_classes
from glt.data.graph import Graph, IntArray

# Degrees from one of these to the next one stand together.
DEGREE_STEPS = (1, 2, 3, 4, 6, 11, 21, 51)


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of every edge or node (-1: in none), and what the groups are called."""

    name: str
    label: str
    group: IntArray
    names: tuple[str, ...]

    @property
    def sizes(self) -> IntArray:
        """How many belong to each group."""
        return self.count(np.ones(self.group.size, dtype=np.bool_))

    def count(self, chosen: np.ndarray) -> IntArray:
        """Return how many of the `chosen` belong to each group."""
        return np.bincount(self.group[chosen & (self.group >= 0)], minlength=len(self.names))


def edge_groupings(graph: Graph) -> list[Grouping]:
    """Return the groupings of edges: all, by same or different class, by degree of the ends, by pair of classes.

    Where no class is known, those by class are left out.
    """
    everything = Grouping("all", "All edges", np.zeros(graph.num_edges, dtype=np.int64), ("All edges",))
    ends = np.sort(degrees(graph)[graph.edges], axis=0)
    smaller = _by_degree("smaller_degree", "Smaller degree of both ends", ends[0])
    larger = _by_degree("larger_degree", "Larger degree of both ends", ends[1])
    if not has_classes(graph):
        return [everything, smaller, larger]
    return [everything, _by_relation(graph), smaller, larger, by_pair(graph)]


def node_groupings(graph: Graph) -> list[Grouping]:
    """Return the groupings of nodes that have an edge in the unpruned graph: all, and where one is known, by class."""
    linked = degrees(graph) > 0
    everything = Grouping("all_nodes", "All nodes", np.where(linked, 0, -1), ("All nodes",))
    by_class = [Grouping("class", "Class", np.where(linked, graph.labels, -1), class_names(graph))]
    return [everything, *(by_class if has_classes(graph) else [])]


def by_pair(graph: Graph) -> Grouping:
    """Return the edges by the classes of their ends, whichever end has which: group a C + b with a <= b."""
    names = class_names(graph)
    low, high = np.sort(graph.labels[graph.edges], axis=0)
    group = np.where(low >= 0, low * len(names) + high, -1)
    return Grouping("pair", "Classes of both ends", group, tuple(f"{a}, {b}" for a in names for b in names))


def _by_relation(graph: Graph) -> Grouping:
    low, high = graph.labels[graph.edges]
    group = np.where((low < 0) | (high < 0), 2, np.where(low == high, 0, 1))
    return Grouping("relation", "Classes of both ends", group, ("Same class", "Different classes", "A class unknown"))


def _by_degree(name: str, label: str, degree: IntArray) -> Grouping:
    group = np.searchsorted(DEGREE_STEPS, degree, side="right") - 1
    return Grouping(name, label, group, tuple(_degree_words()))


def _degree_words() -> list[str]:
    """Name the groups of degrees.

    >>> _degree_words()
    ['1', '2', '3', '4 to 5', '6 to 10', '11 to 20', '21 to 50', '51 or more']
    """
    words = [str(low) if next_ == low + 1 else f"{low} to {next_ - 1}" for low, next_ in pairwise(DEGREE_STEPS)]
    return [*words, f"{DEGREE_STEPS[-1]} or more"]
