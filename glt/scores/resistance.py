"""Effective resistance of edges: exact by a dense inverse, or by random projection on larger graphs.

Every edge is a resistor of 1. A bridge has resistance 1, and no current of another edge flows through it, so bridges
are taken out first: what is left is smaller, and its components are solved together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glt.errors import StudioError
from glt.scores import SCORES
from glt.scores.base import EdgeScore, FloatArray, IntArray, Pulse, Structure

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Nodes up to which the resistance is exact: the inverse is a dense matrix of this size.
MOST_EXACT = 5_000
# Rows of the projection, and how many are solved at a time.
ROWS, TOGETHER = 512, 32
TOLERANCE, MOST_STEPS = 1e-3, 2_000
# Edges whose differences are computed at a time.
BLOCK = 100_000


class EffectiveResistance(EdgeScore):
    """Edges that few other paths replace stay: resistance is the chance that a random spanning tree has the edge."""

    name = "effective_resistance"
    label = "Effective resistance"
    description = "Keeps the edges of highest effective resistance, which few other paths replace."
    formula = "R_ij = (e_i - e_j)^T L^+ (e_i - e_j), L the graph Laplacian; a bridge has 1"
    source = "Spielman and Srivastava 2011, Graph sparsification by effective resistances"
    cost = f"dense inverse up to {MOST_EXACT} nodes; above, {ROWS} linear systems (random projection)"
    most_edges = 5_000_000

    def compute(self, structure: Structure, generator: np.random.Generator, pulse: Pulse) -> FloatArray:
        """Return the resistances, in (0, 1]; exact up to MOST_EXACT nodes."""
        if structure.num_nodes <= MOST_EXACT:
            return exact_resistance(structure)
        return projected_resistance(structure, generator, pulse)


def exact_resistance(structure: Structure) -> FloatArray:
    """Return the exact effective resistance of every edge, [E].

    With J = 1/n_c between nodes of one component of n_c nodes, M = (L + J)^-1 = L^+ + J gives
    R_ij = M_ii + M_jj - 2 M_ij. The sum over all edges is nodes minus components (Foster 1949).
    """
    from scipy.linalg import inv
    from scipy.sparse.csgraph import connected_components, laplacian

    resistance, inner, ends = _without_bridges(structure)
    if not ends.size:
        return resistance
    adjacency = _adjacency(ends)
    _, component = connected_components(adjacency, directed=False)
    together = component[:, None] == component
    matrix = laplacian(adjacency).toarray() + together / np.bincount(component)[component]
    inverse = inv(matrix, overwrite_a=True, check_finite=False)
    one, other = ends
    diagonal = np.diagonal(inverse)
    found = diagonal[one] + diagonal[other] - 2.0 * inverse[one, other]
    resistance[inner] = _clipped(found, ends)
    return resistance


def projected_resistance(
    structure: Structure, generator: np.random.Generator, pulse: Pulse, rows: int = ROWS
) -> FloatArray:
    """Return estimates of the effective resistance of every edge, [E]; bridges are exact.

    R_ij is the squared length of Z (e_i - e_j) with Z = Q B L^+, where Q [rows, E] holds random signs over sqrt(rows)
    and B is the incidence matrix (Spielman and Srivastava 2011). The relative standard error of an edge is at most
    sqrt(2 / rows): 6 % for 512. The published bound, 24 ln n / eps^2 rows, holds for all pairs at once; for eps = 0.3
    on 170,000 nodes it is 3,200 rows. An order of edges needs less. Estimates are clipped to the bounds of `_clipped`.

    Conjugate gradients with the degrees as preconditioner stop at a residual of 1e-3. Raises StudioError if they do not
    get there, as on very long paths and grids.
    """
    resistance, inner, ends = _without_bridges(structure)
    if not ends.size:
        return resistance
    adjacency, edges = _adjacency(ends), ends.shape[1]
    squares = np.zeros(edges)
    for first in range(0, rows, TOGETHER):
        solved = _solved(adjacency, _signed_sums(ends, min(TOGETHER, rows - first), generator))
        for start in range(0, edges, BLOCK):
            one, other = ends[:, start : start + BLOCK]
            difference = solved[one] - solved[other]
            squares[start : start + BLOCK] += np.einsum("ij,ij->i", difference, difference)
        pulse(min(first + TOGETHER, rows), rows)
    resistance[inner] = _clipped(squares / rows, ends)
    return resistance


def _without_bridges(structure: Structure) -> tuple[FloatArray, IntArray, IntArray]:
    """Return ones [E], the indices of edges that are no bridges, and their ends, renumbered."""
    # igraph takes half a second to import.
    import igraph

    graph = igraph.Graph(n=structure.num_nodes, edges=structure.edges.T)
    is_inner = np.ones(structure.num_edges, dtype=np.bool_)
    is_inner[graph.bridges()] = False
    inner = np.flatnonzero(is_inner)
    _, ends = np.unique(structure.edges[:, inner], return_inverse=True)
    return np.ones(structure.num_edges), inner, ends.reshape(2, -1)


def _clipped(found: FloatArray, ends: IntArray) -> FloatArray:
    """Return resistances within their bounds: the parallel circuit at the ends, and 1.

    Joining all other nodes into one can only lower the resistance (Rayleigh); what is left is the edge itself beside
    d_i - 1 and d_j - 1 edges in series.
    """
    others = np.bincount(ends.ravel())[ends] - 1.0
    lowest = 1.0 / (1.0 + others[0] * others[1] / (others[0] + others[1]))
    return np.clip(found, lowest, 1.0)


def _adjacency(ends: IntArray) -> csr_array:
    from scipy.sparse import csr_array

    places = np.concatenate([ends, ends[::-1]], axis=1)
    size = int(ends.max()) + 1
    return csr_array((np.ones(places.shape[1]), tuple(places)), shape=(size, size))


def _signed_sums(ends: IntArray, rows: int, generator: np.random.Generator) -> FloatArray:
    """Return [N, rows]: every node's sum of the random signs of its edges, minus at the second end."""
    size = int(ends.max()) + 1
    sums = np.empty((size, rows))
    for row in range(rows):
        signs = 2.0 * generator.integers(0, 2, ends.shape[1], dtype=np.int8) - 1.0
        sums[:, row] = np.bincount(ends[0], signs, size) - np.bincount(ends[1], signs, size)
    return sums


def _solved(adjacency: csr_array, wanted: FloatArray) -> FloatArray:
    """Return X [N, rows] with L X = wanted, up to a constant per component, by conjugate gradients.

    All columns advance together, so a step is one sparse product. einsum sums in a fixed order: the result does not
    depend on the number of threads.
    """
    degrees = np.asarray(adjacency.sum(axis=1))[:, None]
    solution, residual = np.zeros_like(wanted), wanted.copy()
    scaled = residual / degrees
    direction = scaled.copy()
    size = np.einsum("ij,ij->j", residual, scaled)
    enough = np.maximum(TOLERANCE**2 * size, np.finfo(np.float64).tiny)
    for _ in range(MOST_STEPS):
        if (size <= enough).all():
            return solution
        image = degrees * direction - adjacency @ direction
        # A column of zeros is solved already.
        step = size / np.maximum(np.einsum("ij,ij->j", direction, image), np.finfo(np.float64).tiny)
        solution += step * direction
        residual -= step * image
        np.divide(residual, degrees, out=scaled)
        before, size = size, np.einsum("ij,ij->j", residual, scaled)
        direction *= size / np.maximum(before, np.finfo(np.float64).tiny)
        direction += scaled
    raise StudioError(
        f"The score effective_resistance did not converge in {MOST_STEPS} steps on this graph of "
        f"{len(degrees)} nodes: choose another score, such as dspar, which approximates it by degrees."
    )


SCORES.register(EffectiveResistance())
