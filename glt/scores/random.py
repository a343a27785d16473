"""Scores from draws: random edges, a random spanning forest, and random neighbours of every node."""

from __future__ import annotations

import numpy as np

from glt.scores import SCORES
from glt.scores.base import EdgeScore, FloatArray, Pulse, Structure, neighbour_ranks


class Random(EdgeScore):
    """The control: undirected edges in random order."""

    name = "random"
    label = "Random"
    description = "Removes edges in random order, both directions together."
    formula = "U(0, 1)"
    source = "control"
    cost = "linear in E"

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return one draw per edge."""
        return generator.random(structure.num_edges)


class SpanningForest(EdgeScore):
    """Components stay connected as long as the number of edges allows it."""

    name = "spanning_forest"
    label = "Spanning forest"
    description = "Keeps a random spanning forest, which connects every component, and removes other edges first."
    formula = "U(0, 1), plus 1 for edges of the minimum spanning forest of random edge lengths"
    source = "minimum spanning tree (Kruskal 1956); the forest is random, but not uniform among all forests"
    cost = "a sort of E edges"

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return scores above 1 for edges of the forest, below 1 for others."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import minimum_spanning_tree

        # Lengths are 1 to E, all different, so that a length in the forest names its edge.
        lengths = generator.permutation(structure.num_edges) + 1
        edge_of = np.empty(structure.num_edges, dtype=np.int64)
        edge_of[lengths - 1] = np.arange(structure.num_edges)
        size = (structure.num_nodes, structure.num_nodes)
        matrix = csr_array((lengths.astype(np.float64), tuple(structure.edges)), shape=size)
        scores = generator.random(structure.num_edges)
        scores[edge_of[minimum_spanning_tree(matrix).data.astype(np.int64) - 1]] += 1.0
        return scores


class KNeighbour(EdgeScore):
    """Every node keeps up to k random edges; k shrinks as edges are removed."""

    name = "k_neighbour"
    label = "k-neighbour"
    description = "Every node keeps the same number k of random edges, or all it has; k falls as edges go."
    formula = "minus the smallest k at which an end keeps the edge: its place in one random order per node"
    source = "k-neighbour sparsifier, as in Chen et al. 2023, arXiv 2311.12314"
    cost = "a sort of 2E entries"

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return minus the smaller rank of the two ends, -1 at best."""
        ranks = neighbour_ranks(structure, np.zeros((2, structure.num_edges)), generator)
        return np.asarray(-ranks.min(axis=0), dtype=np.float64)


for score in (Random, SpanningForest, KNeighbour):
    SCORES.register(score())
