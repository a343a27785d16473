"""The interface of a score: from a graph's structure to one number per undirected edge, higher = kept longer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glt.errors import ConfigError
from glt.formats import count

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from glt.datasets.graph import Graph

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
# Receives a step and the number of steps of a long computation; it may raise to stop it.
Pulse = Callable[[int, int], None]


def no_pulse(step: int, steps: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What a score may read: undirected `edges` [2, E], the number of nodes N, and the features [N, F]."""

    edges: IntArray
    num_nodes: int
    features: csr_array | NDArray[np.float32] | None = None

    @classmethod
    def of(cls, graph: Graph, edges: IntArray | None = None) -> Structure:
        """Return the structure of a graph, or of its nodes with the given edges [2, E]."""
        return cls(graph.edges if edges is None else edges, graph.num_nodes, graph.features)

    @property
    def num_edges(self) -> int:
        """Number of undirected edges E."""
        return int(self.edges.shape[1])

    @cached_property
    def degrees(self) -> IntArray:
        """Number of neighbours of each node, [N]."""
        return np.bincount(self.edges.ravel(), minlength=self.num_nodes)

    @cached_property
    def entries(self) -> IntArray:
        """Return [2, 2E]: every edge as (node, neighbour), first (i, j), then (j, i)."""
        return np.concatenate([self.edges, self.edges[::-1]], axis=1)


class EdgeScore(ABC):
    """A score of edges, computed from the graph alone.

    `description` is one sentence, `formula` the definition, `source` the publication, `cost` the work for E edges.
    More than `most_edges` edges are refused.
    """

    name: str
    label: str
    description: str
    formula: str
    source: str
    cost: str
    most_edges: int | None = None
    reads_features: bool = False

    @abstractmethod
    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return one finite number per edge, [E], of a graph with at least one edge."""

    def of(self, structure: Structure, generator: np.random.Generator, pulse: Pulse = no_pulse) -> FloatArray:
        """Return the scores [E], float64, higher = kept longer; the `generator` decides what is random.

        Raises ConfigError for a graph that is too large, or has no features where the score needs them.
        """
        width = 0 if structure.features is None else int(structure.features.shape[1])
        self.check(structure.num_edges, width)
        if not structure.num_edges:
            return np.empty(0)
        scores = np.asarray(self.compute(structure, generator, pulse), dtype=np.float64)
        if scores.shape != (structure.num_edges,) or not np.isfinite(scores).all():
            raise ValueError(f"{self.name} must return one finite number per edge")
        return scores

    def check(self, edges: int, features: int) -> None:
        """Raise ConfigError if the score cannot be computed for a graph of these sizes."""
        if self.most_edges is not None and edges > self.most_edges:
            raise ConfigError(
                f"The score {self.name} is limited to {count(self.most_edges)} edges, and this graph has "
                f"{count(edges)}: choose a score of linear cost, such as local_degree or dspar."
            )
        if self.reads_features and not features:
            raise ConfigError(f"The score {self.name} needs node features, and this graph has none: choose another.")


def edge_ranks(scores: FloatArray, generator: np.random.Generator) -> IntArray:
    """Return each edge's place in ascending order of score, 0 to E - 1; equal scores fall to the generator.

    Scores are compared in single precision, so that rounding errors do not decide between equal ones.

    >>> edge_ranks(np.array([0.5, 0.1, 0.3]), np.random.default_rng(0)).tolist()
    [2, 0, 1]
    """
    order = np.lexsort((generator.random(scores.size), scores.astype(np.float32)))
    ranks = np.empty(scores.size, dtype=np.int64)
    ranks[order] = np.arange(scores.size)
    return ranks


def neighbour_ranks(structure: Structure, values: FloatArray, generator: np.random.Generator) -> IntArray:
    """Return [2, E]: the rank of j among the neighbours of i, and of i among those of j, for each edge (i, j).

    `values` [2, E] are those of the neighbours, in the same places; the largest has rank 1. Equal values fall to the
    generator, never to the numbers of nodes.
    """
    node = structure.entries[0]
    compared = values.ravel().astype(np.float32)
    order = np.lexsort((generator.random(node.size), -compared, node))
    starts = np.cumsum(structure.degrees) - structure.degrees
    ranks = np.empty(node.size, dtype=np.int64)
    ranks[order] = np.arange(node.size) - starts[node[order]] + 1
    return ranks.reshape(2, -1)


def survival_exponents(structure: Structure, values: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return the smallest c at which each edge survives if every node keeps its d^c best neighbours, [E].

    With rank r at a node of degree d it is log r / log d (0 for d = 1), the smaller one of the two ends. `values` and
    ties are those of `neighbour_ranks`.
    """
    degrees = np.maximum(structure.degrees[structure.edges], 2)
    ranks = neighbour_ranks(structure, values, generator)
    lowest: FloatArray = (np.log(ranks) / np.log(degrees)).min(axis=0)
    return lowest
