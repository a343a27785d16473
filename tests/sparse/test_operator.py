"""The graph operator: its values against dense ones, and its receptive fields."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glt.datasets.graph import Graph
from glt.masks import EdgeMask
from glt.sparse import ConstantMatrix, Dropout, Features, GraphOperator

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


@pytest.fixture
def operator(small_graph: Graph) -> GraphOperator:
    keep = np.ones(10, dtype=np.bool_)
    keep[[1, 6]] = False
    return GraphOperator(small_graph, EdgeMask("directed", keep), dtype=torch.float64)


def values(operator: GraphOperator) -> torch.Tensor:
    return torch.linspace(0.5, 1.5, operator.num_values, dtype=torch.float64).requires_grad_()


@pytest.mark.parametrize("wanted", [[3], [0, 5], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_layers_hold_the_nodes_and_entries_that_count(operator: GraphOperator, wanted: list[int], depth: int) -> None:
    dense = operator.structure.matrix(torch.ones(operator.structure.nnz)).to_dense().bool().numpy()
    field = operator.towards(np.array(wanted), depth)
    targets = np.isin(np.arange(6), wanted)
    for number in reversed(range(depth)):
        layer = field.layer(number)
        sources = dense[targets].any(axis=0)
        assert layer.nodes is not None
        assert layer.nodes.tolist() == np.flatnonzero(sources).tolist()
        found = layer.structure.matrix(torch.ones(layer.structure.nnz)).to_dense().bool().numpy()
        assert np.array_equal(found, dense[np.ix_(targets, sources)])
        assert layer.targets(torch.from_numpy(layer.nodes)).tolist() == np.flatnonzero(targets).tolist()
        targets = sources
    assert operator.share_towards(np.array(wanted), depth) == field.layer(0).structure.nnz / operator.structure.nnz
    assert field.inputs().tolist() == np.flatnonzero(targets).tolist()


@pytest.mark.parametrize("degree", ["source", "target", "both", "fixed"])
def test_a_field_sums_as_the_whole_does_with_the_same_gradients(operator: GraphOperator, degree: str) -> None:
    """Degrees count entries that lead out of the field too."""
    field, wanted = operator.towards(np.array([1, 3]), 2), [1, 3]
    rows = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    results = []
    for each, inputs in ((operator, rows), (field, rows[field.inputs()])):
        edges = values(operator)
        adjacency = each.normalised(edges, degree)
        output = adjacency.propagate(adjacency.propagate(inputs, 0), 1)
        output = output if each is field else output[wanted]
        results.append((output, *torch.autograd.grad(output.square().sum(), edges)))
    for whole, part in zip(*results, strict=True):
        torch.testing.assert_close(part, whole)


@pytest.mark.parametrize("rate", [0.5, 0.3])
@pytest.mark.parametrize("width", [3, 16])
def test_rows_drop_what_they_would_among_all_rows(rate: float, width: int) -> None:
    rows, nodes = torch.ones(9, width), np.array([1, 4, 8])
    whole = Dropout(rate, np.random.default_rng(5))
    part = Dropout(rate, np.random.default_rng(5)).among(nodes, 9)
    # A second call shows that as many numbers were drawn.
    for _ in range(2):
        assert torch.equal(part(rows[nodes]), whole(rows)[nodes])
    assert Dropout(rate, None).among(nodes, 9)(rows) is rows


@pytest.mark.parametrize("computed_before", [False, True])
def test_rows_within_rows_take_their_product_and_give_their_own_gradient(
    small_graph: Graph, computed_before: bool
) -> None:
    dense = torch.from_numpy(small_graph.features.toarray())
    rows = Features(ConstantMatrix(small_graph.features, dtype=torch.float64)).cut(np.array([0, 2, 3, 5]))
    within = rows.within(np.array([1, 3]))
    weight = torch.randn(dense.shape[1], 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weight.requires_grad_()
    if computed_before:
        with torch.no_grad():
            torch.testing.assert_close(rows.times(weight), dense[[0, 2, 3, 5]].double() @ weight)
    output = within.times(weight)
    torch.testing.assert_close(output, dense[[2, 5]].double() @ weight)
    (found,) = torch.autograd.grad(output.square().sum(), weight)
    (expected,) = torch.autograd.grad((dense[[2, 5]].double() @ weight).square().sum(), weight)
    torch.testing.assert_close(found, expected)


def test_rows_are_computed_anew_after_a_step(small_graph: Graph) -> None:
    rows = Features(ConstantMatrix(small_graph.features, dtype=torch.float64)).cut(np.arange(4))
    within, weight = rows.within(np.array([2])), torch.ones(small_graph.num_features, 2, dtype=torch.float64)
    rows.times(weight)
    weight.mul_(3)
    torch.testing.assert_close(within.times(weight), rows.times(weight)[[2]])
