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

from glt.config import RunConfig
from glt.cost.macs import macs
from glt.datasets.graph import Graph
from glt.masks import EdgeMask
from glt.models import MODELS, NetworkShape
from glt.models import resgcn as module
from glt.presets import resolve
from glt.sparse import ConstantMatrix, Dropout, Features, GraphOperator, features_of
from glt.training.problem import full_masks, network_shape, tensor_specs

KEPT = np.array([1, 0, 1, 1, 1, 1, 1, 0, 1, 0], dtype=bool)
GIN_FORMS = [
    {},
    {"gin_aggregation": "mean"},
    {"gin_aggregation": "mean", "gin_degree": "original", "gin_mlp": "one", "gin_read_out": "jumping"},
    {"gin_last_relu": True},
    {
        "gin_aggregation": "mean",
        "gin_degree": "original",
        "gin_mlp": "one",
        "gin_read_out": "jumping",
        "gin_last_relu": True,
    },
]
GAT_FORMS = [{"gat_heads": 2}, {"gat_heads": 2, "gat_slope": 0.01}, {"gat_heads": 2, "gat_slope": 0.0}]
FORMS = [("gcn", {}), *[("gin", form) for form in GIN_FORMS], *[("gat", form) for form in GAT_FORMS]]


def config_of(model: str, form: Mapping[str, Any], **core: Any) -> RunConfig:
    return resolve({"model": model, "hidden": 5, "dropout": 0.0, **core, **form})


class Bench:
    """One network in double precision on the small graph, with fixed random weights."""

    def __init__(self, graph: Graph, config: RunConfig, kept: np.ndarray[Any, Any] = KEPT) -> None:
        self.graph, self.config, self.model = graph, config, MODELS.get(config.model)
        self.mask = EdgeMask("directed", kept)
        shape = NetworkShape(graph.num_features, config.hidden, 3, config.layers, config.options)
        generator = torch.Generator().manual_seed(1)
        self.weights = {
            spec.name: torch.randn(*spec.shape, dtype=torch.float64, generator=generator)
            for spec in self.model.tensors(shape)
        }
        self.features = Features(ConstantMatrix(graph.features, dtype=torch.float64))

    def logits(
        self,
        edge_values: Tensor | None = None,
        mask: EdgeMask | None = None,
        weights: Mapping[str, Tensor] | None = None,
        dropout: Dropout | None = None,
    ) -> Tensor:
        operator = GraphOperator(self.graph, mask or self.mask, dtype=torch.float64)
        weights = weights or self.weights
        stem = self.model.stem(operator, edge_values, self.features, weights, self.config)
        return self.model.head(stem, weights, dropout or Dropout(0, None), self.config)

    def adjacency(self, values: Tensor | None = None) -> Tensor:
        """Return the surviving entries as a dense [target, source] matrix, with their values or ones."""
        source, target = torch.from_numpy(self.graph.entries()[:, KEPT])
        matrix = torch.zeros(self.graph.num_nodes, self.graph.num_nodes, dtype=torch.float64)
        entries = torch.ones(source.numel(), dtype=torch.float64) if values is None else values
        return matrix.index_put((target, source), entries)

    def rows(self) -> Tensor:
        return torch.from_numpy(self.graph.features.toarray()).double()


@pytest.fixture(params=FORMS, ids=lambda form: "-".join([form[0], *map(str, form[1].values())]))
def bench(request: pytest.FixtureRequest, small_graph: Graph) -> Bench:
    return Bench(small_graph, config_of(*request.param))


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
        rows = torch.nn.functional.elu(rows) if layer else rows
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


@pytest.mark.parametrize("form", GIN_FORMS)
def test_gin_equals_its_formula(small_graph: Graph, form: Mapping[str, Any]) -> None:
    bench = Bench(small_graph, config_of("gin", form))
    torch.testing.assert_close(bench.logits(), dense_gin(bench, bench.adjacency(), bench.weights))


@pytest.mark.parametrize("form", GAT_FORMS)
def test_gat_equals_its_formula(small_graph: Graph, form: Mapping[str, Any]) -> None:
    bench = Bench(small_graph, config_of("gat", form))
    torch.testing.assert_close(bench.logits(), dense_gat(bench, bench.adjacency(), bench.weights))


@pytest.mark.parametrize(
    ("model", "form", "dense"),
    [*[("gin", form, dense_gin) for form in GIN_FORMS[2:]], *[("gat", form, dense_gat) for form in GAT_FORMS]],
)
def test_losses_and_gradients_under_soft_masks_are_the_dense_ones(
    small_graph: Graph, model: str, form: Mapping[str, Any], dense: Callable[..., Tensor]
) -> None:
    """Cross-entropy of the training nodes, and its gradients for edge masks, weight masks and weights."""
    bench = Bench(small_graph, config_of(model, form))
    generator = torch.Generator().manual_seed(3)
    masks = {name: torch.rand(*w.shape, dtype=torch.float64, generator=generator) for name, w in bench.weights.items()}
    inputs = [torch.linspace(0.6, 1.3, bench.mask.kept, dtype=torch.float64), *bench.weights.values(), *masks.values()]
    results = []
    for compute in (_sparse, _dense_pass(dense)):
        values, *rest = [tensor.clone().requires_grad_() for tensor in inputs]
        weights, own = rest[: len(masks)], rest[len(masks) :]
        effective = {name: w * m for name, w, m in zip(masks, weights, own, strict=True)}
        logits, train = compute(bench, values, effective), bench.graph.split.train
        loss = torch.nn.functional.cross_entropy(logits[train], torch.from_numpy(bench.graph.labels)[train])
        results.append([loss, *torch.autograd.grad(loss, [values, *rest])])
    torch.testing.assert_close(results[0], results[1])


def _sparse(bench: Bench, values: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    return bench.logits(values, weights=weights)


def _dense_pass(dense: Callable[..., Tensor]) -> Callable[[Bench, Tensor, Mapping[str, Tensor]], Tensor]:
    return lambda bench, values, weights: dense(bench, bench.adjacency(values), weights)


def test_the_last_relu_and_the_slope_change_the_logits(small_graph: Graph) -> None:
    for model, form in (("gin", {"gin_last_relu": True}), ("gat", {"gat_slope": 0.01})):
        plain, changed = (Bench(small_graph, config_of(model, wanted)).logits() for wanted in ({}, form))
        assert not torch.allclose(plain, changed), model
    assert bool((Bench(small_graph, config_of("gin", {"gin_last_relu": True})).logits() >= 0).all())


def test_a_value_of_zero_is_removal(bench: Bench) -> None:
    everything = EdgeMask.full("directed", bench.graph.num_edges)
    multiplied = bench.logits(torch.from_numpy(KEPT.astype(np.float64)), everything)
    torch.testing.assert_close(multiplied, bench.logits())


def test_gradients_of_soft_masks_and_weights_check(bench: Bench) -> None:
    names = list(bench.weights)
    values = torch.linspace(0.6, 1.3, bench.mask.kept, dtype=torch.float64)
    inputs = [tensor.clone().requires_grad_() for tensor in (values, *bench.weights.values())]
    assert torch.autograd.gradcheck(lambda m, *w: bench.logits(m, weights=dict(zip(names, w, strict=True))), inputs)


def test_nodes_that_lose_all_edges_give_no_nan(bench: Bench) -> None:
    nothing = EdgeMask("directed", np.zeros_like(KEPT))
    values = torch.ones(0, dtype=torch.float64, requires_grad=True)
    logits = bench.logits(values, nothing)
    assert bool(logits.isfinite().all())
    torch.testing.assert_close(logits, bench.logits(None, nothing))


def test_three_layers_and_sparse_weights(small_graph: Graph, bench: Bench) -> None:
    deeper = Bench(small_graph, bench.config.model_copy(update={"layers": 3}))
    sparse = {name: tensor.to_sparse_csr() if tensor.dim() == 2 else tensor for name, tensor in deeper.weights.items()}
    read_outs = {name: deeper.weights[name] for name in sparse if name.startswith("read_out")}
    torch.testing.assert_close(deeper.logits(weights={**sparse, **read_outs}), deeper.logits())


def test_dropout_acts_between_layers_only(bench: Bench) -> None:
    plain = bench.logits()
    dropped = bench.logits(dropout=Dropout(0.5, np.random.default_rng(0)))
    assert not torch.allclose(plain, dropped)
    linear = bench.config.model_copy(update={"options": {**bench.config.options, "hidden_activation": "none"}})
    assert not torch.allclose(plain, Bench(bench.graph, linear).logits())


def test_tensors_fit_their_layers(bench: Bench) -> None:
    """A map's outputs, head by head, are the next map's inputs, and every cost names tensors that exist."""
    shape = NetworkShape(4, 5, 3, 3, bench.config.options)
    sizes = {spec.name: spec.shape for spec in bench.model.tensors(shape)}
    costs = bench.model.layer_costs(shape)
    assert {name for cost in costs for name in (cost.weight, *cost.further)} <= set(sizes)
    maps = [sizes[cost.weight] for cost in costs]
    if not any("second" in name for name in sizes):
        assert all(before[1] == after[0] for before, after in pairwise(maps))
    assert maps[0][0] == 4


def test_logits_of_pruned_edges_stay_only_where_asked(small_graph: Graph) -> None:
    model = MODELS.get("gat")
    assert "exp(0)" in str(model.keeps_pruned_edges(config_of("gat", {"gat_mask": "logit"})))
    assert model.keeps_pruned_edges(config_of("gat", {})) is None
    bench = Bench(small_graph, config_of("gat", {"gat_mask": "logit"}))
    everything = EdgeMask.full("directed", small_graph.num_edges)
    multiplied = bench.logits(torch.from_numpy(KEPT.astype(np.float64)), everything)
    assert not torch.allclose(multiplied, bench.logits())


# ResGCN, node by node.

RESGCN_FORMS: list[dict[str, Any]] = [
    {},
    {"gen_norm": "layer", "gen_mlp": 2, "gen_t": 0.1},
    {"gen_self_loops": True, "gen_mlp": 3},
]


def with_edge_features(graph: Graph) -> Graph:
    drawn = np.random.default_rng(2).random((graph.num_edges, 2), dtype=np.float32)
    return replace(graph, edge_features=drawn)


class ResGCNBench:
    """A network in double precision with fixed random weights."""

    def __init__(self, graph: Graph, form: Mapping[str, Any] | None = None, layers: int = 3) -> None:
        core = {"model": "resgcn", "hidden": 4, "layers": layers, "dropout": 0.0}
        self.graph, self.config = graph, resolve({**core, **(form or {})})
        generator = torch.Generator().manual_seed(1)
        self.weights = {
            spec.name: torch.rand(*spec.shape, dtype=torch.float64, generator=generator) - 0.3
            for spec in tensor_specs(self.config, network_shape(self.config, graph.sizes))
        }

    def logits(
        self,
        values: Tensor | None = None,
        kept: np.ndarray[Any, Any] = KEPT,
        weights: Mapping[str, Tensor] | None = None,
        dropout: Dropout | None = None,
    ) -> Tensor:
        model, weights = MODELS.get("resgcn"), weights or self.weights
        operator = GraphOperator(self.graph, EdgeMask("directed", kept), dtype=torch.float64)
        stem = model.stem(operator, values, features_of(self.graph, dtype=torch.float64), weights, self.config)
        return model.head(stem, weights, dropout or Dropout(0, None), self.config)


class Dense:
    """The definition (Li et al. 2020): every node's messages gathered one by one."""

    def __init__(self, resgcn_bench: ResGCNBench) -> None:
        self.weights, self.options, self.graph = resgcn_bench.weights, resgcn_bench.config.options, resgcn_bench.graph

    def logits(self, layers: int) -> Tensor:
        rows = features_of(self.graph, dtype=torch.float64).matrix.to_dense()
        hidden = self.convolved(0, self.affine("encoder", rows))
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
        for name in [f"layers.{layer}.{kind}weight" for kind in ("", "second_", "third_")][
            : int(self.options["gen_mlp"])
        ]:
            hidden = self.normed(f"{name}.norm", hidden).relu() if f"{name}.norm.scale" in self.weights else hidden
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


@pytest.fixture(params=RESGCN_FORMS, ids=str)
def form(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(request.param)


@pytest.fixture(params=[False, True], ids=["plain", "edge features"])
def resgcn_bench(request: pytest.FixtureRequest, form: dict[str, Any], small_graph: Graph) -> ResGCNBench:
    return ResGCNBench(with_edge_features(small_graph) if request.param else small_graph, form)


def test_it_equals_its_formula(resgcn_bench: ResGCNBench) -> None:
    torch.testing.assert_close(
        resgcn_bench.logits(), Dense(resgcn_bench).logits(resgcn_bench.config.layers), rtol=1e-5, atol=1e-6
    )


def test_a_value_of_zero_is_removal_and_sparse_weights_are_the_same(resgcn_bench: ResGCNBench) -> None:
    everything = np.ones_like(KEPT)
    multiplied = resgcn_bench.logits(torch.from_numpy(KEPT.astype(np.float64)), everything)
    torch.testing.assert_close(multiplied, resgcn_bench.logits())
    prunable = MODELS.get("resgcn").prunable_shapes(network_shape(resgcn_bench.config, resgcn_bench.graph.sizes))
    sparse = {name: each.to_sparse_csr() if name in prunable else each for name, each in resgcn_bench.weights.items()}
    torch.testing.assert_close(resgcn_bench.logits(weights=sparse), resgcn_bench.logits())


def test_resgcn_gradients_of_soft_masks_and_weights_check(resgcn_bench: ResGCNBench) -> None:
    names = list(resgcn_bench.weights)
    values = torch.linspace(0.6, 1.3, int(KEPT.sum()), dtype=torch.float64)
    inputs = [tensor.clone().requires_grad_() for tensor in (values, *resgcn_bench.weights.values())]
    assert torch.autograd.gradcheck(
        lambda m, *w: resgcn_bench.logits(m, weights=dict(zip(names, w, strict=True))), inputs, fast_mode=True
    )


def test_resgcn_nodes_that_lose_all_edges_give_no_nan(resgcn_bench: ResGCNBench) -> None:
    values = torch.ones(0, dtype=torch.float64, requires_grad=True)
    logits = resgcn_bench.logits(values, np.zeros_like(KEPT))
    assert bool(logits.isfinite().all())


def test_blocks_computed_again_draw_the_same_dropout(
    resgcn_bench: ResGCNBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept or computed a second time, gradients are the same to the last bit."""
    gradients = []
    for keeps in (False, True):
        if keeps:
            monkeypatch.setattr(module, "_checkpointed", lambda step, rows: step(rows))
        weights = {name: each.clone().requires_grad_() for name, each in resgcn_bench.weights.items()}
        dropout = Dropout(0.5, np.random.default_rng(3))
        resgcn_bench.logits(weights=weights, dropout=dropout).square().sum().backward()
        gradients.append([each.grad for each in weights.values()])
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))
    assert any(bool(each.any()) for each in gradients[0])


def test_pruned_edges_stay_in_the_denominator_only_where_asked(small_graph: Graph) -> None:
    model = MODELS.get("resgcn")
    bench = ResGCNBench(small_graph, {"gen_mask": "message"})
    assert "denominator" in str(model.keeps_pruned_edges(bench.config))
    assert model.keeps_pruned_edges(ResGCNBench(small_graph).config) is None
    multiplied = bench.logits(torch.from_numpy(KEPT.astype(np.float64)), np.ones_like(KEPT))
    assert not torch.allclose(multiplied, bench.logits())


def test_a_fixed_softmax_leaves_temperatures_alone(small_graph: Graph) -> None:
    bench = ResGCNBench(small_graph, {"gen_gradient": "stopped"})
    weights = {name: each.clone().requires_grad_() for name, each in bench.weights.items()}
    bench.logits(weights=weights).sum().backward()
    assert all(weights[f"layers.{layer}.temperature"].grad is None for layer in range(3))
    torch.testing.assert_close(bench.logits(), ResGCNBench(small_graph).logits())


def test_half_precision_maps_are_near_and_learn(small_graph: Graph) -> None:
    bench, whole = ResGCNBench(small_graph, {"gen_precision": "bfloat16"}), ResGCNBench(small_graph)
    half = {name: each.float().requires_grad_() for name, each in bench.weights.items()}
    operator = GraphOperator(small_graph, EdgeMask("directed", KEPT))
    model = MODELS.get("resgcn")
    stem = model.stem(operator, None, features_of(small_graph), half, bench.config)
    logits = model.head(stem, half, Dropout(0, None), bench.config)
    torch.testing.assert_close(logits, whole.logits().float(), rtol=0.1, atol=0.1)
    assert not torch.equal(logits, whole.logits().float())
    functional.cross_entropy(logits, torch.zeros(6, dtype=torch.long)).backward()
    assert all(each.grad is not None and bool(each.grad.isfinite().all()) for each in half.values())


@pytest.mark.parametrize("layers", [2, 28])
def test_only_the_blocks_maps_are_prunable(small_graph: Graph, layers: int) -> None:
    config = ResGCNBench(with_edge_features(small_graph), {"gen_mlp": 2}, layers).config
    masks = full_masks(config, small_graph).weights.keep
    wanted = {f"layers.{layer}.{kind}weight" for layer in range(layers) for kind in ("", "second_")}
    assert set(masks) == wanted
    assert masks["layers.1.second_weight"].shape == (8, 4)


def test_macs_by_hand(small_graph: Graph) -> None:
    """6 nodes, 10 entries, 4 features of 8 nonzero values, 4 hidden, 3 outputs, 2 edge features, 2 blocks."""
    graph = with_edge_features(small_graph)
    config: RunConfig = ResGCNBench(graph, layers=2).config
    counted = macs(config, graph, full_masks(config, graph)).by_convention()
    stored = int(small_graph.sparse_features.nnz)
    blocks = 2 * (6 * 4 * 4 + 10 * 2 * 4)
    assert counted["dense_features"]["transform"] == 6 * 4 * 4 + blocks + 6 * 4 * 3
    assert counted["sparse_features"]["transform"] == stored * 4 + blocks + 6 * 4 * 3
    assert counted["dense_features"]["aggregate"] == 2 * (10 + 6) * 4
