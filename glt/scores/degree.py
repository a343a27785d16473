"""Scores from degrees: local degree, degree product, TEDDY's score and DSpar."""

from __future__ import annotations

import numpy as np

from glt.scores import SCORES
from glt.scores.base import EdgeScore, FloatArray, Pulse, Structure, survival_exponents


class LocalDegree(EdgeScore):
    """Edges to the best-connected neighbours stay: a skeleton of hubs that leaves no node behind early."""

    name = "local_degree"
    label = "Local degree"
    description = "Each node keeps the edges to its neighbours of highest degree longest."
    formula = "max over both ends u of 1 - log(rank of the other end) / log(d_u), by descending degree; 1 if d_u = 1"
    source = "Hamann et al. 2016, Structure-preserving sparsification methods for social networks"
    cost = "a sort of 2E entries"

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return scores in [0, 1]; neighbours of equal degree are ordered by a draw."""
        neighbours = structure.degrees[structure.edges[::-1]].astype(np.float64)
        return 1.0 - survival_exponents(structure, neighbours, generator)


class DegreeProduct(EdgeScore):
    """Edges between nodes of few neighbours stay."""

    name = "degree_product"
    label = "Degree product"
    description = "Keeps the edges with the smallest product of degrees, those with the largest GCN factor."
    formula = "1 / sqrt(d_i d_j)"
    source = "factor of the symmetric normalisation of Kipf and Welling 2017"
    cost = "linear in E"

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return scores in (0, 1]."""
        products = structure.degrees[structure.edges].astype(np.float64).prod(axis=0)
        return np.asarray(1.0 / np.sqrt(products))


class Teddy(EdgeScore):
    """Edges of nodes with few neighbours, whose neighbours have few too, stay."""

    name = "teddy"
    label = "TEDDY's score"
    description = "Keeps edges of low degree in the two-hop neighbourhood of their ends."
    formula = "g(i) g(j) / (d_i d_j), where g(i) is the mean over neighbours k of d_k^(-1/2)"
    source = "Seo et al. 2024, TEDDY (ICLR), arXiv 2402.01261"
    cost = "linear in E"

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return scores in (0, 1]."""
        degrees = np.maximum(structure.degrees, 1).astype(np.float64)
        node, neighbour = structure.entries
        means = np.bincount(node, degrees[neighbour] ** -0.5, minlength=structure.num_nodes) / degrees
        shares = (means / degrees)[structure.edges]
        return np.asarray(shares[0] * shares[1])


class DSpar(EdgeScore):
    """A draw that favours edges of nodes with few neighbours: degrees approximate effective resistance."""

    name = "dspar"
    label = "DSpar"
    description = "Draws which edges stay, with probabilities proportional to 1/d_i + 1/d_j."
    formula = "log(1/d_i + 1/d_j) + Gumbel noise: the highest k keys are a draw of k edges without replacement"
    source = "Liu et al. 2023, DSpar (TMLR), without its weights on kept edges"
    cost = "linear in E"

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return the keys, one draw per edge."""
        chances = (1.0 / structure.degrees[structure.edges]).sum(axis=0)
        return np.asarray(np.log(chances) + generator.gumbel(size=structure.num_edges))


for score in (LocalDegree, DegreeProduct, Teddy, DSpar):
    SCORES.register(score())
