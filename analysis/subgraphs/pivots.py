"""A first layout of a large connected graph in a moment: pivot multidimensional scaling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from glt.data.graph import IntArray

PIVOTS = 50


def pivot_layout(num_nodes: int, edges: IntArray, seed: int) -> NDArray[np.float64]:
    """Return [n, 2] positions whose distances follow those in a connected graph (Brandes and Pich 2007).

    Time and memory grow with 50 times the edges and nodes: distances are measured from `PIVOTS` nodes only.
    """
    rows, columns = np.concatenate([edges, edges[::-1]], axis=1)
    matrix = csr_array((np.ones(rows.size), (rows, columns)), shape=(num_nodes, num_nodes))
    pivots = np.random.default_rng(seed).choice(num_nodes, size=min(PIVOTS, num_nodes), replace=False)
    squared = shortest_path(matrix, unweighted=True, indices=pivots).T ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    directions = np.linalg.svd(centred.T @ centred)[0][:, :2]
    return np.asarray(centred @ directions)
