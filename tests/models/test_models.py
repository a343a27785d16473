"""Every model on a small graph: against dense formulas, under masks, with dropout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from glt.cost.macs import macs
from glt.datasets.graph import Graph
from glt.masks import EdgeMask
from glt.models import MODELS, NetworkShape
from glt.models import resgcn as module
from glt.presets import resolve
from glt.sparse import Dropout, GraphOperator, features_of
from glt.training.problem import full_masks, network_shape, tensor_specs

Form = Mapping[str, Any]

KEPT = np.array([1, 0, 1, 1, 1, 1, 1, 0, 1, 0], dtype=bool)
AUTHORS_GIN = {"gin_aggregation": "mean", "gin_degree": "original", "gin_mlp": "one", "gin_read_out": "jumping"}
GIN_FORMS: list[Form] = [
    {},
    {"gin_aggregation": "mean"},
    AUTHORS_GIN,
    {"gin_last_relu": True},
    {**AUTHORS_GIN, "gin_last_relu": True},
]
GAT_FORMS: list[Form] = [{"gat_heads": 2}, {"gat_heads": 2, "gat_slope": 0.01}, {"gat_heads": 2, "gat_slope": 0.0}]
RESGCN_FORMS: list[Form] = [
    {},
    {"gen_norm": "layer", "gen_mlp": 2, "gen_t": 0.1},
    {"gen_self_loops": True, "gen_mlp": 3},
]
FLAT_FORMS = [("gcn", {}), *[("gin", form) for form in GIN_FORMS], *[("gat", form) for form in GAT_FORMS]]
DEEP_FORMS = [("resgcn", {**form, **edges}) for form in RESGCN_FORMS for edges in ({}, {"edge features": True})]


class Bench:
    """A network in double precision on the small graph, with fixed random weights."""

    def __init__(self, graph: Graph, model: str, form: Form | None = None, layers: int | None = None) -> None:
        form = dict(form or {})
        if form.pop("edge features", False):
            graph = with_edge_features(graph)
        layers = layers or (3 if model == "resgcn" else 2)
        self.config = resolve({"model": model, "hidden": 4, "dropout": 0.0, "layers": layers, **form})
        self.graph, self.model = graph, MODELS.get(model)
        generator = torch.Generator().manual_seed(2)
        self.weights = {
            spec.name: torch.rand(*spec.shape, dtype=torch.float64, generator=generator) - 0.5
            for spec in tensor_specs(self.config, network_shape(self.config, graph.sizes))
        }

    def logits(
        self,
        values: Tensor | None = None,
        kept: np.ndarray[Any, Any] = KEPT,
        weights: Mapping[str, Tensor] | None = None,
        dropout: Dropout | None = None,
    ) -> Tensor:
        operator = GraphOperator(self.graph, EdgeMask("directed", kept), dtype=torch.float64)
        features, weights = features_of(self.graph, dtype=torch.float64), weights or self.weights
        stem = self.model.stem(operator, values, features, weights, self.config)
        return self.model.head(stem, weights, dropout or Dropout(0, None), self.config)

    def with_pruned_values_zero(self) -> Tensor:
        """Return the logits of all entries, those that KEPT leaves out having the value 0."""
        return self.logits(torch.from_numpy(KEPT.astype(np.float64)), np.ones_like(KEPT))

    def adjacency(self, values: Tensor | None = None) -> Tensor:
        """Return the surviving entries as a dense [target, source] matrix, with their values or ones."""
        source, target = torch.from_numpy(self.graph.entries()[:, KEPT])
        matrix = torch.zeros(self.graph.num_nodes, self.graph.num_nodes, dtype=torch.float64)
        entries = torch.ones(source.numel(), dtype=torch.float64) if values is None else values
        return matrix.index_put((target, source), entries)

    def rows(self) -> Tensor:
        return features_of(self.graph, dtype=torch.float64).matrix.to_dense()


def with_edge_features(graph: Graph) -> Graph:
    drawn = np.random.default_rng(2).random((graph.num_edges, 2), dtype=np.float32)
    return replace(graph, edge_features=drawn)


@pytest.fixture(params=[*FLAT_FORMS, *DEEP_FORMS], ids=lambda form: "-".join([form[0], *map(str, form[1].values())]))
def bench(request: pytest.FixtureRequest, small_graph: Graph) -> Bench:
    return Bench(small_graph, *request.param)


def dense_gin(bench: Bench, matrix: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """`matrix` [target, source] holds the surviving entries' values."""
    options, rows = bench.config.options, bench.rows()
    if options["gin_aggregation"] == "mean":
        full = torch.from_numpy(np.bincount(bench.graph.edges.ravel(), minlength=bench.graph.num_nodes)).double()
        counts = matrix.sum(1) if options["gin_degree"] == "surviving" else full
        matrix = matrix / counts.clamp(min=1)[:, None]
    read_outs = []
    for layer in range(2):
        rows = rows.relu() if layer else rows
        if layer and options["gin_read_out"] == "jumping":
            read_outs.append(rows @ weights["read_out.0.weight"])
        rows = ((1 + weights[f"layers.{layer}.eps"]) * rows + matrix @ rows) @ weights[f"layers.{layer}.weight"]
        if options["gin_mlp"] == "two":
            rows = rows.relu() @ weights[f"layers.{layer}.second_weight"]
    rows = rows.relu() if options.get("gin_last_relu") else rows
    return sum(read_outs, rows) / (1 + len(read_outs))


def dense_gat(bench: Bench, matrix: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """`matrix` [target, source] holds the surviving entries' values, which weigh exp(logit)."""
    rows, values = bench.rows(), matrix + torch.eye(bench.graph.num_nodes)
    for layer in range(2):
        rows = functional.elu(rows) if layer else rows
        mapped = rows @ weights[f"layers.{layer}.weight"]
        source, target = (weights[f"layers.{layer}.attention_{end}"] for end in ("source", "target"))
        heads = []
        for head, columns in enumerate(mapped.chunk(source.shape[1], dim=1)):
            logits = (columns @ target[:, head])[:, None] + (columns @ source[:, head])[None, :]
            slope = bench.config.options["gat_slope"]
            shares = values * torch.where(logits > 0, logits, slope * logits).exp()
            heads.append(shares / shares.sum(1, keepdim=True) @ columns)
        rows = torch.cat(heads, dim=1)
    return rows


DENSE = {"gin": dense_gin, "gat": dense_gat}


@pytest.mark.parametrize(("model", "form"), FLAT_FORMS[1:])
def test_logits_equal_the_dense_formula(small_graph: Graph, model: str, form: Form) -> None:
    bench = Bench(small_graph, model, form)
    torch.testing.assert_close(bench.logits(), DENSE[model](bench, bench.adjacency(), bench.weights))


# The dense mean over surviving values is right for values of 1 only.
@pytest.mark.parametrize(("model", "form"), FLAT_FORMS[3:])
def test_losses_and_gradients_under_soft_masks_equal_dense(small_graph: Graph, model: str, form: Form) -> None:
    """Cross-entropy of the training nodes, and its gradients for edge masks, weight masks and weights."""
    bench = Bench(small_graph, model, form)
    train, labels = bench.graph.split.train, torch.from_numpy(bench.graph.labels)
    generator = torch.Generator().manual_seed(3)
    masks = {name: torch.rand(*w.shape, dtype=torch.float64, generator=generator) for name, w in bench.weights.items()}
    inputs = [torch.linspace(0.6, 1.3, KEPT.sum(), dtype=torch.float64), *bench.weights.values(), *masks.values()]

    def sparse(values: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
        return bench.logits(values, weights=weights)

    def dense(values: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
        return DENSE[model](bench, bench.adjacency(values), weights)

    def loss_and_gradients(compute: Callable[[Tensor, Mapping[str, Tensor]], Tensor]) -> list[Tensor]:
        values, *rest = [tensor.clone().requires_grad_() for tensor in inputs]
        weights, own = rest[: len(masks)], rest[len(masks) :]
        effective = {name: w * m for name, w, m in zip(masks, weights, own, strict=True)}
        loss = functional.cross_entropy(compute(values, effective)[train], labels[train])
        return [loss, *torch.autograd.grad(loss, [values, *rest])]

    torch.testing.assert_close(loss_and_gradients(sparse), loss_and_gradients(dense))


def test_the_last_relu_and_the_slope_change_the_logits(small_graph: Graph) -> None:
    for model, form in (("gin", {"gin_last_relu": True}), ("gat", {"gat_slope": 0.01})):
        assert not torch.allclose(Bench(small_graph, model).logits(), Bench(small_graph, model, form).logits()), model
    assert bool((Bench(small_graph, "gin", {"gin_last_relu": True}).logits() >= 0).all())


def test_a_mask_value_of_zero_equals_removal(bench: Bench) -> None:
    torch.testing.assert_close(bench.with_pruned_values_zero(), bench.logits())


@pytest.mark.parametrize(
    ("model", "form", "reason"),
    [("gat", {"gat_mask": "logit"}, "exp(0)"), ("resgcn", {"gen_mask": "message"}, "denominator")],
)
def test_pruned_edges_stay_in_the_softmax_only_on_request(
    small_graph: Graph, model: str, form: Form, reason: str
) -> None:
    bench = Bench(small_graph, model, form)
    assert reason in str(bench.model.keeps_pruned_edges(bench.config))
    assert bench.model.keeps_pruned_edges(Bench(small_graph, model).config) is None
    assert not torch.allclose(bench.with_pruned_values_zero(), bench.logits())


def test_gradients_of_soft_masks_and_weights_check(bench: Bench) -> None:
    names = list(bench.weights)
    values = torch.linspace(0.6, 1.3, int(KEPT.sum()), dtype=torch.float64)
    inputs = [tensor.clone().requires_grad_() for tensor in (values, *bench.weights.values())]
    assert torch.autograd.gradcheck(
        lambda m, *w: bench.logits(m, weights=dict(zip(names, w, strict=True))), inputs, fast_mode=True
    )


def test_isolated_nodes_give_no_nan(bench: Bench) -> None:
    values = torch.ones(0, dtype=torch.float64, requires_grad=True)
    logits = bench.logits(values, np.zeros_like(KEPT))
    assert bool(logits.isfinite().all())
    torch.testing.assert_close(logits, bench.logits(None, np.zeros_like(KEPT)))


def test_three_layers_and_sparse_weights(bench: Bench) -> None:
    deeper = Bench(bench.graph, bench.config.model, bench.config.options, layers=3)
    prunable = deeper.model.prunable_shapes(network_shape(deeper.config, bench.graph.sizes))
    sparse = {name: each.to_sparse_csr() if name in prunable else each for name, each in deeper.weights.items()}
    torch.testing.assert_close(deeper.logits(weights=sparse), deeper.logits())


@pytest.mark.parametrize(("model", "form"), FLAT_FORMS)
def test_dropout_and_activation_act_between_layers(small_graph: Graph, model: str, form: Form) -> None:
    bench = Bench(small_graph, model, form)
    assert not torch.allclose(bench.logits(), bench.logits(dropout=Dropout(0.5, np.random.default_rng(0))))
    bench.config = bench.config.model_copy(update={"options": {**bench.config.options, "hidden_activation": "none"}})
    assert not torch.allclose(bench.logits(), Bench(small_graph, model, form).logits())


@pytest.mark.parametrize(("model", "form"), FLAT_FORMS)
def test_tensor_shapes_fit_their_layers(small_graph: Graph, model: str, form: Form) -> None:
    """The outputs of a layer, by head, are the next layer's inputs, and costs refer to existing tensors."""
    bench = Bench(small_graph, model, form)
    shape = NetworkShape(4, 5, 3, 3, bench.config.options)
    sizes = {spec.name: spec.shape for spec in bench.model.tensors(shape)}
    costs = bench.model.layer_costs(shape)
    assert {name for cost in costs for name in (cost.weight, *cost.further)} <= set(sizes)
    maps = [sizes[cost.weight] for cost in costs]
    if not any("second" in name for name in sizes):
        assert all(before[1] == after[0] for before, after in pairwise(maps))
    assert maps[0][0] == 4


class Dense:
    """The definition (Li et al. 2020): every node's messages gathered one by one."""

    def __init__(self, bench: Bench) -> None:
        self.weights, self.options, self.graph, self.rows = (
            bench.weights,
            bench.config.options,
            bench.graph,
            bench.rows(),
        )

    def logits(self, layers: int) -> Tensor:
        hidden = self.convolved(0, self.affine("encoder", self.rows))
        for layer in range(1, layers):
            hidden = hidden + self.convolved(layer, self.normed(f"layers.{layer}.norm", hidden).relu())
        return self.affine("head", self.normed("norm", hidden).relu())

    def affine(self, name: str, rows: Tensor) -> Tensor:
        return rows @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def normed(self, name: str, rows: Tensor) -> Tensor:
        axis = 1 if self.options["gen_norm"] == "layer" else 0
        centred = rows - rows.mean(axis, keepdim=True)
        spread = (centred.square().mean(axis, keepdim=True) + 1e-5).sqrt()
        return centred / spread * self.weights[f"{name}.scale"] + self.weights[f"{name}.shift"]

    def convolved(self, layer: int, rows: Tensor) -> Tensor:
        hidden = rows + torch.stack([self.aggregated(layer, rows, node) for node in range(self.graph.num_nodes)])
        for kind in ("", "second_", "third_")[: int(self.options["gen_mlp"])]:
            name = f"layers.{layer}.{kind}weight"
            hidden = self.normed(f"{name}.norm", hidden).relu() if kind else hidden
            hidden = hidden @ self.weights[name] + self.weights[f"{name}.bias"]
        return hidden

    def aggregated(self, layer: int, rows: Tensor, node: int) -> Tensor:
        edges, count = self.graph.entries(), self.graph.num_edges
        messages = [
            self.message(layer, rows[edges[0, k]], k % count) for k in np.flatnonzero(KEPT) if edges[1, k] == node
        ]
        if self.options["gen_self_loops"]:
            messages.append(self.message(layer, rows[node], None))
        if not messages:
            return torch.zeros_like(rows[node])
        stacked = torch.stack(messages)
        shares = (stacked * self.weights[f"layers.{layer}.temperature"]).softmax(dim=0)
        return (shares * stacked).sum(0)

    def message(self, layer: int, row: Tensor, edge: int | None) -> Tensor:
        if self.graph.edge_features is not None:
            given = np.zeros(2, np.float32) if edge is None else self.graph.edge_features[edge]
            row = row + self.affine(f"layers.{layer}.edge_encoder", torch.from_numpy(given).double())
        return row.relu() + 1e-7


@pytest.mark.parametrize(("model", "form"), DEEP_FORMS)
def test_resgcn_equals_its_formula(small_graph: Graph, model: str, form: Form) -> None:
    bench = Bench(small_graph, model, form)
    torch.testing.assert_close(bench.logits(), Dense(bench).logits(bench.config.layers), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("model", "form"), DEEP_FORMS)
def test_checkpointed_blocks_draw_the_same_dropout(
    small_graph: Graph, model: str, form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without checkpointing, gradients are equal bit for bit."""
    bench, gradients = Bench(small_graph, model, form), []
    for keeps in (False, True):
        if keeps:
            monkeypatch.setattr(module, "_checkpointed", lambda step, rows: step(rows))
        weights = {name: each.clone().requires_grad_() for name, each in bench.weights.items()}
        dropout = Dropout(0.5, np.random.default_rng(3))
        bench.logits(weights=weights, dropout=dropout).square().sum().backward()
        gradients.append([each.grad for each in weights.values()])
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))
    assert any(bool(each.any()) for each in gradients[0])


def test_a_fixed_softmax_trains_no_temperature(small_graph: Graph) -> None:
    bench = Bench(small_graph, "resgcn", {"gen_gradient": "stopped"})
    weights = {name: each.clone().requires_grad_() for name, each in bench.weights.items()}
    bench.logits(weights=weights).sum().backward()
    assert all(weights[f"layers.{layer}.temperature"].grad is None for layer in range(3))
    torch.testing.assert_close(bench.logits(), Bench(small_graph, "resgcn").logits())


def test_half_precision_is_close_and_trains(small_graph: Graph) -> None:
    bench, expected = (
        Bench(small_graph, "resgcn", {"gen_precision": "bfloat16"}),
        Bench(small_graph, "resgcn").logits().float(),
    )
    half = {name: each.float().requires_grad_() for name, each in bench.weights.items()}
    operator = GraphOperator(small_graph, EdgeMask("directed", KEPT))
    stem = bench.model.stem(operator, None, features_of(small_graph), half, bench.config)
    logits = bench.model.head(stem, half, Dropout(0, None), bench.config)
    torch.testing.assert_close(logits, expected, rtol=0.1, atol=0.1)
    assert not torch.equal(logits, expected)
    functional.cross_entropy(logits, torch.zeros(6, dtype=torch.long)).backward()
    assert all(each.grad is not None and bool(each.grad.isfinite().all()) for each in half.values())


@pytest.mark.parametrize("layers", [2, 28])
def test_only_block_weights_are_prunable(small_graph: Graph, layers: int) -> None:
    config = Bench(small_graph, "resgcn", {"edge features": True, "gen_mlp": 2}, layers).config
    masks = full_masks(config, small_graph).weights.keep
    wanted = {f"layers.{layer}.{kind}weight" for layer in range(layers) for kind in ("", "second_")}
    assert set(masks) == wanted
    assert masks["layers.1.second_weight"].shape == (8, 4)


def test_resgcn_macs_by_hand(small_graph: Graph) -> None:
    """6 nodes, 10 entries, 4 features of 8 nonzero values, 4 hidden, 3 outputs, 2 edge features, 2 blocks."""
    bench = Bench(small_graph, "resgcn", {"edge features": True}, layers=2)
    counted = macs(bench.config, bench.graph, full_masks(bench.config, bench.graph)).by_convention()
    stored = int(small_graph.sparse_features.nnz)
    blocks = 2 * (6 * 4 * 4 + 10 * 2 * 4)
    assert counted["dense_features"]["transform"] == 6 * 4 * 4 + blocks + 6 * 4 * 3
    assert counted["sparse_features"]["transform"] == stored * 4 + blocks + 6 * 4 * 3
    assert counted["dense_features"]["aggregate"] == 2 * (10 + 6) * 4
