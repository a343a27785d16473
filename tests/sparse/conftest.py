"""Hand-sized graphs and their dense twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from glt.data.graph import Graph, Provenance, Split


@pytest.fixture
def small_graph() -> Graph:
    """Six nodes: a triangle with a tail, one edge apart, and every node with a few features."""
    edges = np.array([[0, 0, 1, 2, 4], [1, 2, 2, 3, 5]])
    features = np.array([[1, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 3, 0, 1], [2, 0, 0, 0]])
    nodes = np.arange(6)
    return Graph(
        name="small",
        edges=edges,
        features=csr_array(features.astype(np.float32)),
        labels=np.array([0, 1, 0, 1, 2, 2]),
        split=Split(nodes[:3], nodes[3:5], nodes[5:]),
        provenance=Provenance("by hand", 5, 0, 0),
    )
