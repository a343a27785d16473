"""Sparse kernels and the graph operator against dense formulations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import Tensor

from glt.datasets.graph import Graph
from glt.masks import EdgeMask
from glt.sparse import (
    ConstantMatrix,
    Dropout,
    Features,
    GraphOperator,
    Structure,
    edge_softmax,
    hidden_linear,
    inner_products,
    linear,
    message_softmax_sum,
    propagate_heads,
    row_normalised,
    softmax_sum,
)
from glt.sparse import features as module
from glt.sparse.spmm import product

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
def test_propagation_equals_the_dense_formula_and_gradients_check(small_graph: Graph, kind: str, degree: str) -> None:
    mask = mask_of(kind)
    values = (torch.rand(mask.kept, dtype=torch.float64) + 0.5).requires_grad_()
    hidden = torch.randn(small_graph.num_nodes, 3, dtype=torch.float64, requires_grad=True)
    operator = GraphOperator(small_graph, mask, dtype=torch.float64)
    expected = dense_normalised(small_graph, mask, values, degree) @ hidden
    torch.testing.assert_close(operator.normalised(values, degree).propagate(hidden), expected)
    assert torch.autograd.gradcheck(lambda v, h: operator.normalised(v, degree).propagate(h), (values, hidden))
    ones = operator.normalised(torch.ones_like(values), degree).propagate(hidden)
    assert torch.equal(operator.normalised(None, degree).propagate(hidden), ones)


@pytest.mark.parametrize("degree", DEGREES)
def test_isolated_nodes_keep_their_self_loop_without_nan(small_graph: Graph, degree: str) -> None:
    hidden = torch.randn(small_graph.num_nodes, 2)
    nothing = GraphOperator(small_graph, EdgeMask("directed", np.zeros(2 * small_graph.num_edges, dtype=bool)))
    result = nothing.normalised(None, degree).propagate(hidden)
    torch.testing.assert_close(result, hidden if degree != "fixed" else result)
    assert bool(result.isfinite().all())
    everything = GraphOperator(small_graph, EdgeMask.full("directed", small_graph.num_edges))
    negative = everything.normalised(torch.full((everything.num_values,), -1.0), degree)
    assert bool(negative.propagate(hidden).isfinite().all())
    with pytest.raises(ValueError, match="a mask of 4 edges on a graph of 5"):
        GraphOperator(small_graph, EdgeMask.full("directed", 4))


@pytest.mark.parametrize("degree", DEGREES)
def test_zero_values_equal_removal_except_fixed_degrees(small_graph: Graph, degree: str) -> None:
    mask = mask_of("directed")
    hidden = torch.randn(small_graph.num_nodes, 2, dtype=torch.float64)
    everything = GraphOperator(small_graph, EdgeMask.full("directed", small_graph.num_edges), dtype=torch.float64)
    multiplied = everything.normalised(torch.from_numpy(mask.keep.astype(np.float64)), degree).propagate(hidden)
    removed = GraphOperator(small_graph, mask, dtype=torch.float64).normalised(None, degree).propagate(hidden)
    torch.testing.assert_close(multiplied, removed)


@pytest.fixture
def operator(small_graph: Graph) -> GraphOperator:
    keep = np.ones(10, dtype=np.bool_)
    keep[[1, 6]] = False
    return GraphOperator(small_graph, EdgeMask("directed", keep), dtype=torch.float64)


def values(operator: GraphOperator) -> torch.Tensor:
    return torch.linspace(0.5, 1.5, operator.num_values, dtype=torch.float64).requires_grad_()


@pytest.mark.parametrize("wanted", [[3], [0, 5], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_receptive_field_layers_hold_the_needed_nodes_and_entries(
    operator: GraphOperator, wanted: list[int], depth: int
) -> None:
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
def test_a_receptive_field_gives_the_sums_and_gradients_of_the_whole_graph(
    operator: GraphOperator, degree: str
) -> None:
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
def test_dropout_of_selected_rows_equals_dropout_of_all_rows(rate: float, width: int) -> None:
    rows, nodes = torch.ones(9, width), np.array([1, 4, 8])
    whole = Dropout(rate, np.random.default_rng(5))
    part = Dropout(rate, np.random.default_rng(5)).among(nodes, 9)
    # A second call shows that as many numbers were drawn.
    for _ in range(2):
        assert torch.equal(part(rows[nodes]), whole(rows)[nodes])
    assert Dropout(rate, None).among(nodes, 9)(rows) is rows


@pytest.mark.parametrize("computed_before", [False, True])
def test_selected_rows_share_a_product_with_their_own_gradient(small_graph: Graph, computed_before: bool) -> None:
    dense = torch.from_numpy(small_graph.features.toarray()).double()
    rows = Features(ConstantMatrix(small_graph.features, dtype=torch.float64)).cut(np.array([0, 2, 3, 5]))
    within = rows.within(np.array([1, 3]))
    weight = torch.randn(dense.shape[1], 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weight.requires_grad_()
    if computed_before:
        with torch.no_grad():
            torch.testing.assert_close(rows.times(weight), dense[[0, 2, 3, 5]] @ weight)
    output, expected = within.times(weight), dense[[2, 5]] @ weight
    torch.testing.assert_close(output, expected)
    found, wanted = (torch.autograd.grad(each.square().sum(), weight) for each in (output, expected))
    torch.testing.assert_close(found, wanted)
    # After a step the rows are computed anew.
    with torch.no_grad():
        weight.mul_(3)
    torch.testing.assert_close(within.times(weight), dense[[2, 5]] @ weight)


# Row 0 has three entries, row 1 one, row 2 two.
HEAD_ROWS, HEAD_COLS = np.array([0, 0, 0, 1, 2, 2]), np.array([0, 1, 2, 1, 0, 2])
# Node 3 has no source and node 0 three of them; every value is one of an entry, in CSR order.
ROWS, COLS = np.array([0, 0, 0, 1, 2, 2]), np.array([1, 2, 3, 0, 0, 3])
NODES, WIDTH = 4, 3


@pytest.fixture
def attended() -> Structure:
    return Structure.from_entries(HEAD_ROWS, HEAD_COLS, (3, 3))


def doubles(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def head_matrix(values: Tensor) -> Tensor:
    """Put one head's values [nnz] into a matrix."""
    return torch.zeros(3, 3, dtype=values.dtype).index_put(
        (torch.from_numpy(HEAD_ROWS), torch.from_numpy(HEAD_COLS)), values
    )


def test_masked_edges_get_zero_attention(attended: Structure) -> None:
    """Logits -2, -1.5, -3 with the middle edge masked: multiplying the logit by the mask gives that edge 0.84."""
    logits = torch.tensor([-2.0, -1.5, -3.0, 0.0, 0.0, 0.0])[:, None]
    mask = torch.tensor([1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    removed = edge_softmax(attended, logits, mask)[:3, 0]
    assert removed.tolist() == pytest.approx([np.exp(1) / (1 + np.exp(1)), 0.0, 1 / (1 + np.exp(1))])
    assert removed[1] == 0
    multiplied = edge_softmax(attended, logits * mask[:, None], None)[:3, 0]
    assert float(multiplied[1]) == pytest.approx(0.844, abs=0.001)


def test_softmax_without_factors_equals_row_softmax(attended: Structure) -> None:
    logits = doubles(6, 2)
    found = edge_softmax(attended, logits, None)
    for head in range(2):
        full = head_matrix(logits[:, head]).masked_fill(head_matrix(torch.ones(6)) == 0, -torch.inf)
        torch.testing.assert_close(head_matrix(found[:, head]), full.softmax(dim=1))
    torch.testing.assert_close(edge_softmax(attended, logits, torch.ones(6, dtype=torch.float64)), found)


def test_softmax_factors_weigh_the_exponentials(attended: Structure) -> None:
    logits, factors = doubles(6, 2), torch.tensor([0.5, 1.2, 0.9, 1.0, 0.3, 1.0], dtype=torch.float64)
    unnormalised = factors * logits[:, 0].exp()
    expected = head_matrix(unnormalised) / head_matrix(unnormalised).sum(dim=1, keepdim=True)
    torch.testing.assert_close(head_matrix(edge_softmax(attended, logits, factors)[:, 0]), expected)


def test_softmax_gradients_check(attended: Structure) -> None:
    logits = doubles(6, 2).requires_grad_()
    factors = (doubles(6).abs() + 0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda e, m: edge_softmax(attended, e, m), (logits, factors))


def test_a_masked_edge_with_a_large_logit_has_no_effect(attended: Structure) -> None:
    factors = torch.tensor([1.0, 0.0, 1.0, 1.0, -0.2, 1.0], dtype=torch.float64, requires_grad=True)
    attention = []
    for logit in (0.0, 5000.0):
        logits = doubles(6, 1).index_fill(0, torch.tensor([1]), logit).requires_grad_()
        attention.append(edge_softmax(attended, logits, factors))
        to_logits, to_factors = torch.autograd.grad((attention[-1] * doubles(6, 1)).sum(), (logits, factors))
        assert bool(to_logits.isfinite().all())
        assert bool(to_factors.isfinite().all())
        assert float(to_logits[1]) == 0
    torch.testing.assert_close(*attention)


def test_attention_heads_equal_dense_products(attended: Structure) -> None:
    values, rows = doubles(6, 2).requires_grad_(), doubles(3, 8).requires_grad_()
    expected = torch.cat([head_matrix(values[:, h]) @ rows[:, 4 * h : 4 * h + 4] for h in range(2)], dim=1)
    torch.testing.assert_close(propagate_heads(attended, values, rows), expected)
    assert torch.autograd.gradcheck(lambda v, r: propagate_heads(attended, v, r), (values, rows))


@pytest.fixture
def structure() -> Structure:
    return Structure.from_entries(ROWS, COLS, (NODES, NODES))


def drawn(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.rand(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def dense(values: Tensor, rows: Tensor, temperature: Tensor, counted: Tensor | None = None) -> Tensor:
    """The definition, node by node and channel by channel."""
    counted = values if counted is None else counted
    result = [[rows.new_zeros(()) for _ in range(WIDTH)] for _ in range(NODES)]
    for node in range(NODES):
        own = [k for k in range(ROWS.size) if ROWS[k] == node]
        for channel in range(WIDTH) if own else []:
            messages = torch.stack([rows[COLS[k], channel] for k in own])
            powers = (temperature * messages).exp()
            above = sum(values[k] * power * message for k, power, message in zip(own, powers, messages, strict=True))
            below = sum(counted[k] * power for k, power in zip(own, powers, strict=True))
            result[node][channel] = above / below if below > 0 else rows.new_zeros(())
    return torch.stack([torch.stack(row) for row in result])


@pytest.mark.parametrize("temperature", [0.1, 1.0, -2.0])
@pytest.mark.parametrize("keeps_denominator", [False, True])
def test_softmax_aggregation_equals_the_dense_formula(
    structure: Structure, temperature: float, keeps_denominator: bool
) -> None:
    values, rows = drawn(ROWS.size), drawn(NODES, WIDTH)
    counted = torch.ones(ROWS.size, dtype=torch.float64) if keeps_denominator else None
    slope = torch.tensor([temperature], dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(
        softmax_sum(structure, values, rows, slope, counted), dense(values, rows, slope, counted)
    )
    assert torch.autograd.gradcheck(lambda *given: softmax_sum(structure, *given, counted), (values, rows, slope))


@pytest.mark.parametrize("keeps_denominator", [False, True])
def test_softmax_aggregation_by_entry_gives_the_same(structure: Structure, keeps_denominator: bool) -> None:
    values, rows, slope = drawn(ROWS.size), drawn(NODES, WIDTH), drawn(1)
    counted = torch.ones(ROWS.size, dtype=torch.float64) if keeps_denominator else None

    def by_entry(values: Tensor, rows: Tensor, slope: Tensor) -> Tensor:
        return message_softmax_sum(structure.row, values, rows[structure.col], slope, NODES, counted)

    torch.testing.assert_close(by_entry(values, rows, slope), softmax_sum(structure, values, rows, slope, counted))
    assert torch.autograd.gradcheck(by_entry, (values, rows, slope))


def test_softmax_aggregation_survives_underflow(structure: Structure) -> None:
    """exp(-200) is 0 in single precision: without the second way node 2 would be 0 / 0."""
    rows = torch.tensor([[1.0, 1.0, 1.0], [200.0, 250.0, 300.0], [0.5, 0.5, 0.5], [2.0, 2.0, 2.0]], requires_grad=True)
    values, slope = torch.ones(ROWS.size, requires_grad=True), torch.ones(1, requires_grad=True)
    result = softmax_sum(structure, values, rows, slope)
    wanted = dense(*(each.detach().double() for each in (values, rows, slope)))
    torch.testing.assert_close(result.detach(), wanted.float())
    result.sum().backward()
    exact = [each.detach().double().requires_grad_() for each in (values, rows, slope)]
    dense(*exact).sum().backward()
    for single, other in zip((values, rows, slope), exact, strict=True):
        assert single.grad is not None
        assert other.grad is not None
        torch.testing.assert_close(single.grad, other.grad.float(), rtol=1e-4, atol=1e-5)


def test_softmax_aggregation_ignores_values_of_zero_or_less(structure: Structure) -> None:
    rows, slope = drawn(NODES, WIDTH), drawn(1)
    values = torch.tensor([0.7, 0.0, 0.4, 0.9, -0.3, 0.0], dtype=torch.float64)
    kept = values > 0
    smaller = Structure.from_entries(ROWS[kept.numpy()], COLS[kept.numpy()], (NODES, NODES))
    without = softmax_sum(smaller, values[kept], rows, slope)
    torch.testing.assert_close(softmax_sum(structure, values, rows, slope), without)
    assert (without[2:] == 0).all()


def test_a_fixed_softmax_has_no_gradient_of_its_logits(structure: Structure) -> None:
    values, rows, slope = drawn(ROWS.size), drawn(NODES, WIDTH), drawn(1)
    softmax_sum(structure, values, rows, slope, fixed_softmax=True).sum().backward()
    powers = (slope * rows).detach().exp()
    fixed_values, fixed_rows = (each.detach().clone().requires_grad_() for each in (values, rows))
    matrix = torch.zeros(NODES, NODES, dtype=torch.float64).index_put(
        (torch.from_numpy(ROWS), torch.from_numpy(COLS)), fixed_values
    )
    below = matrix @ powers
    (matrix @ (powers * fixed_rows) / torch.where(below > 0, below, 1)).sum().backward()
    assert slope.grad is None
    torch.testing.assert_close(rows.grad, fixed_rows.grad)
    torch.testing.assert_close(values.grad, fixed_values.grad)


@pytest.mark.parametrize("in_blocks", [False, True])
def test_sparse_features_times_weights_equals_dense(
    small_graph: Graph, monkeypatch: pytest.MonkeyPatch, in_blocks: bool
) -> None:
    if in_blocks:
        monkeypatch.setattr(module, "NUMBERS_IN_CACHE", 2)
        monkeypatch.setattr(module, "ROWS_OF_A_BLOCK", 2)
    features = Features(ConstantMatrix(small_graph.features, dtype=torch.float64))
    assert (len(features._constant._blocks) > 1) == in_blocks
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    dense = torch.from_numpy(small_graph.features.toarray()).double()
    torch.testing.assert_close(features.times(weight), dense @ weight)
    assert torch.autograd.gradcheck(features.times, (weight,))


def test_linear_equals_matmul_for_sparse_weights(small_graph: Graph) -> None:
    hidden = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [3.0, 0.0]], dtype=torch.float64)
    features = Features(ConstantMatrix(small_graph.features, dtype=torch.float64))
    torch.testing.assert_close(linear(hidden, weight), hidden @ weight)
    torch.testing.assert_close(linear(hidden, weight.to_sparse_csr()), hidden @ weight)
    torch.testing.assert_close(features.times(weight.to_sparse_csr()), features.times(weight))
    assert torch.autograd.gradcheck(linear, (hidden, weight.requires_grad_()))


@pytest.mark.parametrize("width", [1, 7, 15, 16, 40, 129])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_kernels_equal_dense_products(width: int, dtype: torch.dtype) -> None:
    """Rows without an entry are zeros, whatever the memory held, and so is a matrix without any."""
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(9, 6, dtype=dtype, generator=generator)
    dense[dense < 0.6] = 0
    dense[[0, 4, 8]] = 0
    columns = torch.randn(6, width, dtype=dtype, generator=generator)
    for matrix in (dense, torch.zeros_like(dense)):
        torch.testing.assert_close(product(matrix.to_sparse_csr(), columns), matrix @ columns)
        beside = torch.full((9, 2 * width), torch.nan, dtype=dtype)
        product(matrix.to_sparse_csr(), columns, into=beside[:, width:])
        torch.testing.assert_close(beside[:, width:], matrix @ columns)
        assert beside[:, :width].isnan().all()


def test_row_normalisation_keeps_zero_rows() -> None:
    result = row_normalised(csr_array(np.array([[-1.0, 1.0], [0, 0], [3.0, 1.0]])))
    np.testing.assert_allclose(result.toarray(), [[-0.5, 0.5], [0, 0], [0.75, 0.25]])


def test_shuffled_rows_reuse_a_cached_product(small_graph: Graph) -> None:
    order = torch.tensor([3, 1, 0, 2, 5, 4])
    constant = ConstantMatrix(small_graph.features, dtype=torch.float64)
    features, forgetful = Features(constant, keep_product=True), Features(constant)
    dense = torch.from_numpy(small_graph.features.toarray()).double()
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    for _ in range(2):
        product = features.times(weight)
        assert features.latest(weight) is product
        assert torch.equal(forgetful.times(weight), product)
        assert forgetful.latest(weight) is None
        for each in (features, forgetful):
            torch.testing.assert_close(each.shuffled(order).times(weight), dense[order] @ weight)
        with torch.no_grad():
            weight.mul_(-2)
        assert features.latest(weight) is None
        torch.testing.assert_close(features.shuffled(order).times(weight), dense[order] @ weight)
    assert torch.autograd.gradcheck(lambda w: features.times(w).sum() * features.shuffled(order).times(w), (weight,))


def test_inner_products_of_repeated_pairs_have_the_right_gradient() -> None:
    rows = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    pairs = torch.tensor([[0, 1, 0, 1, 2], [1, 0, 1, 3, 2]])
    expected = torch.stack([rows[i] @ rows[j] for i, j in pairs.t()])
    torch.testing.assert_close(inner_products(rows, pairs), expected)
    assert torch.autograd.gradcheck(inner_products, (rows, pairs))


def bits(rate: float) -> Dropout:
    """Return a dropout that draws the same each time it is made."""
    return Dropout(rate, np.random.default_rng(7))


@pytest.mark.parametrize("rate", [0.5, 0.2])
def test_dropout_keeps_the_expected_share_and_the_mean(rate: float) -> None:
    dense = torch.ones(1000, 100, requires_grad=True)
    dropped = bits(rate)(dense)
    share = dropped.detach()
    assert share.unique().tolist() == pytest.approx([0, 1 / (1 - rate)])
    # 100,000 draws: five standard deviations of the mean are below 0.016.
    assert float(share.mean()) == pytest.approx(1, abs=0.016)
    assert torch.equal(*torch.autograd.grad(dropped.sum(), dense), dropped)
    assert torch.equal(bits(rate)(dense), dropped)
    assert Dropout(rate, None)(dense) is dense


@pytest.fixture
def layer() -> tuple[Tensor, Tensor]:
    """Rows of both signs and weights, in double precision, waiting for gradients."""
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(11, 6, dtype=torch.float64, generator=generator, requires_grad=True)
    return hidden, torch.randn(6, 3, dtype=torch.float64, generator=generator, requires_grad=True)


@pytest.mark.parametrize("rate", [0.5, 0.2, 0.0])
def test_hidden_layer_equals_relu_dropout_and_product(layer: tuple[Tensor, Tensor], rate: float) -> None:
    hidden, weight = layer
    plain = bits(rate)(hidden.relu()) @ weight
    result = hidden_linear(hidden * 1, weight, bits(rate))
    torch.testing.assert_close(result, plain)
    upstream = torch.randn_like(plain)
    found, expected = (torch.autograd.grad(output, layer, upstream) for output in (result, plain))
    torch.testing.assert_close(found, expected)


def test_repeated_evaluation_keeps_rows_that_gradients_need(layer: tuple[Tensor, Tensor]) -> None:
    hidden, weight = layer
    rows = hidden * 1
    with torch.no_grad():
        first, second = (hidden_linear(rows, weight, Dropout(0.5, None)) for _ in range(2))
    assert torch.equal(first, second)
    squares = rows.square()
    trained = hidden_linear(rows, weight, bits(0.5))
    assert torch.equal(trained, hidden_linear(hidden * 1, weight, bits(0.5)))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (squares.sum() + trained.sum()).backward()
