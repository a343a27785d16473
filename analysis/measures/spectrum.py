"""How well the largest component conducts: what the spectrum of its Laplacian says."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.csgraph import laplacian
from scipy.sparse.linalg import LinearOperator, SuperLU, eigsh, splu

from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import MEASURES, Measure

FloatArray = NDArray[np.float64]

# The factors of a large graph fill up; beyond these sizes of the largest component nothing is computed.
MOST_NODES_FACTORED, MOST_NODES_SOLVED = 50_000, 25_000
# ARPACK finds few of many eigenvalues; below this many, all are found directly.
FEW = 32
COLUMNS = 256


def algebraic_connectivity(graph: MeasuredGraph) -> float:
    """Second smallest eigenvalue of the Laplacian of the LARGEST component (Fiedler, 1973): small when it has a neck.

    Pruning changes which nodes that component has, so it can rise while the graph falls apart: read it with the
    component's share. NaN for a component of one node, or of more than 50,000.
    """
    matrix = _laplacian(graph)
    size = matrix.shape[0]
    if not 2 <= size <= MOST_NODES_FACTORED:
        return nan
    if size <= FEW:
        return float(np.linalg.eigvalsh(matrix.toarray())[1])
    # The largest eigenvalue of the inverse on the vectors of mean 0 is one over the one that is wanted.
    factors = _ground(matrix)
    inverse = LinearOperator((size, size), lambda vector: _potentials(factors, vector), dtype=np.float64)
    start = np.cos(np.arange(size, dtype=np.float64))
    return 1 / float(eigsh(inverse, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def mean_effective_resistance(graph: MeasuredGraph) -> float:
    """Mean effective resistance over PAIRS of nodes of the largest component, every edge a resistor of 1.

    Few or long detours raise it. (Over edges it is always (n - 1) / m, Foster 1949, which says nothing.) From the
    inverse G of the Laplacian without the row and column of one node, over n nodes: 2 tr(G) / (n - 1) less
    2 sum(G) / (n (n - 1)), Klein and Randic 1993. NaN for a component of one node, or of more than 25,000.
    """
    matrix = _laplacian(graph)
    size = matrix.shape[0]
    if not 2 <= size <= MOST_NODES_SOLVED:
        return nan
    factors = _ground(matrix)
    trace = sum(_diagonal_sum(factors, first) for first in range(0, size - 1, COLUMNS))
    total = float(factors.solve(np.ones(size - 1)).sum())
    return float(2 * (size * trace - total) / (size * (size - 1)))


def _laplacian(graph: MeasuredGraph) -> csc_array:
    nodes = graph.largest_component
    return csc_array(laplacian(graph.adjacency[nodes][:, nodes].astype(np.float64)))


def _ground(matrix: csc_array) -> SuperLU:
    """Factor the Laplacian of a connected graph without its first node, which makes it positive definite."""
    options = {"SymmetricMode": True}
    return splu(csc_array(matrix[1:, 1:]), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)


def _potentials(factors: SuperLU, currents: FloatArray) -> FloatArray:
    """Return the potentials (of mean 0) at which these currents (less their mean) flow."""
    balanced = currents.ravel() - currents.mean()
    potentials = np.concatenate([[0.0], factors.solve(balanced[1:])])
    return np.asarray(potentials - potentials.mean())


def _diagonal_sum(factors: SuperLU, first: int) -> float:
    """Return the sum of COLUMNS entries of the inverse's diagonal, from entry `first` on."""
    size = factors.shape[0]
    columns = np.arange(first, min(first + COLUMNS, size))
    units = np.zeros((size, columns.size))
    units[columns, columns - first] = 1.0
    return float(factors.solve(units)[columns, columns - first].sum())


MEASURES.register(
    Measure(
        "algebraic_connectivity",
        "Algebraic connectivity (largest component)",
        "",
        "seconds",
        70,
        algebraic_connectivity,
    )
)
MEASURES.register(
    Measure(
        "mean_effective_resistance",
        "Effective resistance (largest component)",
        "",
        "background",
        71,
        mean_effective_resistance,
    )
)
