"""Scores from the similarity of an edge's ends: Jaccard, local similarity and feature cosine."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glt.scores import SCORES
from glt.scores.base import EdgeScore, FloatArray, Pulse, Structure, survival_exponents

# Edges compared at a time: bounds the memory, whatever the size of the graph.
BLOCK = 100_000
# The work grows with the sum of squared degrees.
MOST_EDGES = 10_000_000


class Jaccard(EdgeScore):
    """Edges whose ends share many neighbours stay."""

    name = "jaccard"
    label = "Jaccard"
    description = "Keeps the edges whose ends have the largest share of neighbours in common."
    formula = "|N(i) and N(j)| / |N(i) or N(j)|"
    source = "global variant of Satuluri et al. 2011"
    cost = "sum of squared degrees, exact"
    most_edges = MOST_EDGES

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return the Jaccard similarities, in [0, 1)."""
        return jaccard(structure, pulse)


class LocalSimilarity(EdgeScore):
    """Edges between similar nodes stay, by the measure of each node, so that sparse regions keep edges too."""

    name = "local_similarity"
    label = "Local similarity"
    description = "Each node keeps the edges to its most similar neighbours longest (LSpar)."
    formula = "minus the smallest exponent c at which an end keeps the edge among its floor(d^c) highest Jaccards"
    source = "Satuluri et al. 2011, Local graph sparsification (SIGMOD), with exact Jaccard and an exact count"
    cost = "sum of squared degrees, exact"
    most_edges = MOST_EDGES

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return scores in [-1, 0]; equally similar neighbours are ordered by a draw."""
        similar = np.tile(jaccard(structure, pulse), (2, 1))
        return 0.0 - survival_exponents(structure, similar, generator)


class FeatureCosine(EdgeScore):
    """Edges between nodes of similar features stay."""

    name = "feature_cosine"
    label = "Feature cosine"
    description = "Keeps the edges whose ends have the most similar features."
    formula = "x_i x_j / (|x_i| |x_j|); 0 for a node whose features are all zero"
    source = "cosine similarity, as in GNNGuard (Zhang and Zitnik 2020)"
    cost = "features of both ends of each edge"
    reads_features = True

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return the cosines, in [-1, 1]."""
        return cosines(structure, pulse)


def jaccard(structure: Structure, pulse: Pulse) -> FloatArray:
    """Return the exact Jaccard similarity of the neighbourhoods of each edge's ends, [E].

    igraph merges two sorted neighbourhoods at a time, so the memory stays linear in E.
    """
    # igraph takes half a second to import.
    import igraph

    graph = igraph.Graph(n=structure.num_nodes, edges=structure.edges.T)
    found = np.empty(structure.num_edges)
    for part in _blocks(structure, pulse):
        found[part] = graph.similarity_jaccard(pairs=structure.edges[:, part].T.tolist(), loops=False)
    return found


def cosines(structure: Structure, pulse: Pulse) -> FloatArray:
    """Return the cosine of the features of each edge's ends, [E]; sparse features stay sparse."""
    from scipy.sparse import csr_array

    features = structure.features
    found = np.empty(structure.num_edges)
    if isinstance(features, csr_array):
        wide = features.astype(np.float64)
        lengths = np.sqrt(wide.multiply(wide).sum(axis=1))
    else:
        dense = np.asarray(features)
        lengths = np.concatenate(
            [np.linalg.norm(dense[k : k + BLOCK].astype(np.float64), axis=1) for k in range(0, len(dense), BLOCK)]
        )
    for part in _blocks(structure, pulse):
        one, other = structure.edges[:, part]
        if isinstance(features, csr_array):
            products = wide[one].multiply(wide[other]).sum(axis=1)
        else:
            products = np.einsum("ij,ij->i", dense[one], dense[other], dtype=np.float64)
        scale = lengths[one] * lengths[other]
        found[part] = np.divide(products, scale, out=np.zeros_like(scale), where=scale > 0)
    return found


def _blocks(structure: Structure, pulse: Pulse) -> Iterator[slice]:
    """Yield slices of edges, and report after each."""
    for start in range(0, structure.num_edges, BLOCK):
        stop = min(start + BLOCK, structure.num_edges)
        yield slice(start, stop)
        pulse(stop, structure.num_edges)


for score in (Jaccard, LocalSimilarity, FeatureCosine):
    SCORES.register(score())
