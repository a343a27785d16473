"""Receptive fields: layers hold exactly what some nodes' outputs depend on, found again by powers of a dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glt.data.graph import Graph
from glt.masks import EdgeMask
from glt.sparse import ConstantMatrix, Dropout, Features, GraphOperator


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
