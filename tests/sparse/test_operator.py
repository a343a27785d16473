"""The graph operator against dense matrices built the obvious way."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glt.data.graph import Graph
from glt.masks import EdgeMask
from glt.sparse import GraphOperator

DEGREES = ("source", "target", "both", "fixed")
KEPT_DIRECTED = np.array([1, 0, 1, 1, 1, 1, 1, 0, 1, 0], dtype=bool)
KEPT_UNDIRECTED = np.array([1, 0, 1, 1, 0], dtype=bool)


def mask_of(kind: str) -> EdgeMask:
    return EdgeMask(kind, KEPT_DIRECTED if kind == "directed" else KEPT_UNDIRECTED)


def dense_mask(graph: Graph, mask: EdgeMask, values: torch.Tensor) -> torch.Tensor:
    """Put every surviving entry's value at [target, source] of an N x N matrix."""
    survivors = torch.from_numpy(np.flatnonzero(mask.keep))
    full = torch.zeros(mask.keep.size, dtype=values.dtype).index_put((survivors,), values)
    there, back = full.reshape(2, -1) if mask.kind == "directed" else (full, full)
    low, high = torch.from_numpy(graph.edges)
    matrix = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=values.dtype)
    return matrix.index_put((high, low), there).index_put((low, high), back)


def dense_normalised(graph: Graph, mask: EdgeMask, values: torch.Tensor, degree: str) -> torch.Tensor:
    matrix = dense_mask(graph, mask, values) + torch.eye(graph.num_nodes, dtype=values.dtype)
    full = dense_mask(graph, EdgeMask.full("undirected", graph.num_edges), torch.ones(graph.num_edges)).sum(0) + 1
    sent, received = matrix.sum(0), matrix.sum(1)
    at_source = {"source": sent, "target": received, "both": sent, "fixed": full}[degree]
    at_target = {"source": sent, "target": received, "both": received, "fixed": full}[degree]
    return at_target.rsqrt()[:, None] * matrix * at_source.rsqrt()[None, :]


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_propagation_equals_the_dense_formula(small_graph: Graph, kind: str, degree: str) -> None:
    mask = mask_of(kind)
    values = torch.rand(mask.kept, dtype=torch.float64) + 0.5
    hidden = torch.randn(small_graph.num_nodes, 3, dtype=torch.float64)
    operator = GraphOperator(small_graph, mask, dtype=torch.float64)
    expected = dense_normalised(small_graph, mask, values, degree) @ hidden
    torch.testing.assert_close(operator.normalised(values, degree).propagate(hidden), expected)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_gradients_reach_edge_values_and_hidden_rows(small_graph: Graph, kind: str, degree: str) -> None:
    mask = mask_of(kind)
    values = (torch.rand(mask.kept, dtype=torch.float64) + 0.5).requires_grad_()
    hidden = torch.randn(small_graph.num_nodes, 3, dtype=torch.float64, requires_grad=True)
    operator = GraphOperator(small_graph, mask, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda v, h: operator.normalised(v, degree).propagate(h), (values, hidden))


def test_without_values_every_entry_counts_one(small_graph: Graph) -> None:
    mask = mask_of("directed")
    operator = GraphOperator(small_graph, mask)
    hidden = torch.eye(small_graph.num_nodes)
    ones = operator.normalised(torch.ones(mask.kept), "source").propagate(hidden)
    assert torch.equal(operator.normalised(None, "source").propagate(hidden), ones)


def test_entry_i_j_carries_the_message_from_i_to_j(small_graph: Graph) -> None:
    only_first = np.zeros(2 * small_graph.num_edges, dtype=bool)
    only_first[0] = True
    adjacency = GraphOperator(small_graph, EdgeMask("directed", only_first)).normalised(None, "target")
    received = adjacency.propagate(torch.eye(small_graph.num_nodes))
    assert received[1, 0] > 0
    assert received[0, 1] == 0


@pytest.mark.parametrize("degree", DEGREES)
def test_a_node_without_edges_keeps_its_self_loop(small_graph: Graph, degree: str) -> None:
    nothing = EdgeMask("directed", np.zeros(2 * small_graph.num_edges, dtype=bool))
    hidden = torch.randn(small_graph.num_nodes, 2)
    result = GraphOperator(small_graph, nothing).normalised(None, degree).propagate(hidden)
    expected = hidden if degree != "fixed" else result
    torch.testing.assert_close(result, expected)
    assert bool(result.isfinite().all())


@pytest.mark.parametrize("degree", DEGREES)
def test_zero_values_equal_removal_but_for_fixed_degrees(small_graph: Graph, degree: str) -> None:
    mask = mask_of("directed")
    hidden = torch.randn(small_graph.num_nodes, 2, dtype=torch.float64)
    everything = GraphOperator(small_graph, EdgeMask.full("directed", small_graph.num_edges), dtype=torch.float64)
    multiplied = everything.normalised(torch.from_numpy(mask.keep.astype(np.float64)), degree).propagate(hidden)
    removed = GraphOperator(small_graph, mask, dtype=torch.float64).normalised(None, degree).propagate(hidden)
    torch.testing.assert_close(multiplied, removed)


def test_negative_soft_values_give_no_nan(small_graph: Graph) -> None:
    mask = EdgeMask.full("directed", small_graph.num_edges)
    values = torch.full((mask.kept,), -1.0)
    result = GraphOperator(small_graph, mask).normalised(values, "source").propagate(torch.eye(small_graph.num_nodes))
    assert bool(result.isfinite().all())


def test_a_mask_of_another_graph_is_refused(small_graph: Graph) -> None:
    with pytest.raises(ValueError, match="a mask of 4 edges on a graph of 5"):
        GraphOperator(small_graph, EdgeMask.full("directed", 4))
