"""Measures of connectivity: components, bridges, cores, the Laplacian."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.csgraph import laplacian
from scipy.sparse.linalg import LinearOperator, SuperLU, eigsh, splu

from analysis.measures import MEASURES, Cost, Measure
from analysis.measures.graph import FloatArray, MeasuredGraph

# Largest components up to which the Laplacian is factored, and solved for every node.
MOST_NODES_FACTORED, MOST_NODES_SOLVED = 50_000, 25_000
# Up to this size all eigenvalues are computed directly instead of by ARPACK.
FEW = 32
COLUMNS = 256


def components(graph: MeasuredGraph) -> int:
    """Number of connected components; every isolated node is one.

    A rise may come from isolated nodes alone: read it with `isolated_nodes` and `largest_component_share`.
    """
    return int(graph.component.max(initial=-1)) + 1


def largest_component_share(graph: MeasuredGraph) -> float:
    """Share of all nodes in the largest connected component; NaN for a graph without nodes.

    It does not show how robust that component is, nor what the other nodes are: see `bridge_share` and
    `isolated_nodes`.
    """
    return int(graph.largest_component.size) / graph.num_nodes if graph.num_nodes else nan


def bridge_share(graph: MeasuredGraph) -> float:
    """Share of the largest component's edges whose removal would disconnect it; NaN without edges.

    Smaller components are left out: most are trees, whose edges are all bridges. The edge of every node of degree 1 is
    a bridge, so a rise may only mean more such nodes.
    """
    largest = graph.component[graph.edges[0]] == graph.component[graph.largest_component[:1]]
    return float(largest[graph.igraph.bridges()].sum() / largest.sum()) if largest.any() else nan


def largest_core(graph: MeasuredGraph) -> int:
    """Largest k for which a subgraph exists where every node has at least k neighbours; 0 without edges.

    It is the largest core number (Seidman, 1983). It changes in whole steps, so read it with the number of triangles.
    """
    return max(graph.igraph.coreness(), default=0)


def algebraic_connectivity(graph: MeasuredGraph) -> float:
    """Second smallest eigenvalue of the Laplacian of the LARGEST component (Fiedler, 1973): small with a bottleneck.

    Pruning changes the nodes of that component, so it can rise while the graph falls apart: read it with the
    component's share. NaN for a component of one node, or of more than 50,000.
    """
    matrix = _laplacian(graph)
    size = matrix.shape[0]
    if not 2 <= size <= MOST_NODES_FACTORED:
        return nan
    if size <= FEW:
        return float(np.linalg.eigvalsh(matrix.toarray())[1])
    # The reciprocal of the largest eigenvalue of the inverse on vectors of mean 0.
    factors = _ground(matrix)

    def potentials(currents: FloatArray) -> FloatArray:
        balanced = currents.ravel() - currents.mean()
        found = np.concatenate([[0.0], factors.solve(balanced[1:])])
        return np.asarray(found - found.mean())

    inverse = LinearOperator((size, size), potentials, dtype=np.float64)
    start = np.cos(np.arange(size, dtype=np.float64))
    return 1 / float(eigsh(inverse, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def mean_effective_resistance(graph: MeasuredGraph) -> float:
    """Mean effective resistance over PAIRS of nodes of the largest component, every edge a resistor of 1.

    Few or long alternative paths raise it. (The mean over edges is always (n - 1) / m, Foster 1949.) With the inverse G
    of the Laplacian without the row and column of one node, over n nodes: 2 tr(G) / (n - 1) - 2 sum(G) / (n (n - 1)),
    Klein and Randic 1993. NaN for a component of one node, or of more than 25,000.
    """
    matrix = _laplacian(graph)
    size = matrix.shape[0]
    if not 2 <= size <= MOST_NODES_SOLVED:
        return nan
    factors = _ground(matrix)
    trace = 0.0
    for first in range(0, size - 1, COLUMNS):
        columns = np.arange(first, min(first + COLUMNS, size - 1))
        units = np.zeros((size - 1, columns.size))
        units[columns, columns - first] = 1.0
        trace += float(factors.solve(units)[columns, columns - first].sum())
    total = float(factors.solve(np.ones(size - 1)).sum())
    return float(2 * (size * trace - total) / (size * (size - 1)))


def _laplacian(graph: MeasuredGraph) -> csc_array:
    nodes = graph.largest_component
    return csc_array(laplacian(graph.adjacency[nodes][:, nodes].astype(np.float64)))


def _ground(matrix: csc_array) -> SuperLU:
    """Factor the Laplacian of a connected graph without its first node, which makes it positive definite."""
    options = {"SymmetricMode": True}
    return splu(csc_array(matrix[1:, 1:]), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)


MEASURES_HERE: tuple[tuple[str, str, str, Cost, int, Callable[[MeasuredGraph], float]], ...] = (
    ("components", "Components", "", "instant", 21, components),
    ("largest_component_share", "Largest component", "share of nodes", "instant", 22, largest_component_share),
    ("bridge_share", "Bridges (largest component)", "share of edges", "instant", 24, bridge_share),
    ("largest_core", "Largest core number", "", "instant", 25, largest_core),
    ("algebraic_connectivity", "Algebraic connectivity (largest component)", "", "seconds", 70, algebraic_connectivity),
)
for row in MEASURES_HERE:
    MEASURES.register(Measure(*row))
RESISTANCE = "Effective resistance (largest component)"
MEASURES.register(Measure("mean_effective_resistance", RESISTANCE, "", "background", 71, mean_effective_resistance))
