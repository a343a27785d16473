"""ResGCN on a hand-sized graph against its formula node by node, under masks, with edge features, with dropout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from glt.models import MODELS
from glt.models import resgcn as module
from glt.presets import resolve
from glt.sparse import Dropout, GraphOperator, features_of
from glt.training.problem import full_masks, network_shape, tensor_specs

KEPT = np.array([1, 0, 1, 1, 1, 1, 1, 0, 1, 0], dtype=bool)
FORMS: list[dict[str, Any]] = [
    {},
    {"gen_norm": "layer", "gen_mlp": 2, "gen_t": 0.1},
    {"gen_self_loops": True, "gen_mlp": 3},
]


def with_edge_features(graph: Graph) -> Graph:
    drawn = np.random.default_rng(2).random((graph.num_edges, 2), dtype=np.float32)
    return replace(graph, edge_features=drawn)


class Bench:
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

    def __init__(self, bench: Bench) -> None:
        self.weights, self.options, self.graph = bench.weights, bench.config.options, bench.graph

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


@pytest.fixture(params=FORMS, ids=str)
def form(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(request.param)


@pytest.fixture(params=[False, True], ids=["plain", "edge features"])
def bench(request: pytest.FixtureRequest, form: dict[str, Any], small_graph: Graph) -> Bench:
    return Bench(with_edge_features(small_graph) if request.param else small_graph, form)


def test_it_equals_its_formula(bench: Bench) -> None:
    torch.testing.assert_close(bench.logits(), Dense(bench).logits(bench.config.layers), rtol=1e-5, atol=1e-6)


def test_a_value_of_zero_is_removal_and_sparse_weights_are_the_same(bench: Bench) -> None:
    everything = np.ones_like(KEPT)
    multiplied = bench.logits(torch.from_numpy(KEPT.astype(np.float64)), everything)
    torch.testing.assert_close(multiplied, bench.logits())
    prunable = MODELS.get("resgcn").prunable_shapes(network_shape(bench.config, bench.graph.sizes))
    sparse = {name: each.to_sparse_csr() if name in prunable else each for name, each in bench.weights.items()}
    torch.testing.assert_close(bench.logits(weights=sparse), bench.logits())


def test_gradients_of_soft_masks_and_weights_check(bench: Bench) -> None:
    names = list(bench.weights)
    values = torch.linspace(0.6, 1.3, int(KEPT.sum()), dtype=torch.float64)
    inputs = [tensor.clone().requires_grad_() for tensor in (values, *bench.weights.values())]
    assert torch.autograd.gradcheck(
        lambda m, *w: bench.logits(m, weights=dict(zip(names, w, strict=True))), inputs, fast_mode=True
    )


def test_nodes_that_lose_all_edges_give_no_nan(bench: Bench) -> None:
    values = torch.ones(0, dtype=torch.float64, requires_grad=True)
    logits = bench.logits(values, np.zeros_like(KEPT))
    assert bool(logits.isfinite().all())


def test_blocks_computed_again_draw_the_same_dropout(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept or computed a second time, gradients are the same to the last bit."""
    gradients = []
    for keeps in (False, True):
        if keeps:
            monkeypatch.setattr(module, "_checkpointed", lambda step, rows: step(rows))
        weights = {name: each.clone().requires_grad_() for name, each in bench.weights.items()}
        dropout = Dropout(0.5, np.random.default_rng(3))
        bench.logits(weights=weights, dropout=dropout).square().sum().backward()
        gradients.append([each.grad for each in weights.values()])
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))
    assert any(bool(each.any()) for each in gradients[0])


def test_pruned_edges_stay_in_the_denominator_only_where_asked(small_graph: Graph) -> None:
    model = MODELS.get("resgcn")
    bench = Bench(small_graph, {"gen_mask": "message"})
    assert "denominator" in str(model.keeps_pruned_edges(bench.config))
    assert model.keeps_pruned_edges(Bench(small_graph).config) is None
    multiplied = bench.logits(torch.from_numpy(KEPT.astype(np.float64)), np.ones_like(KEPT))
    assert not torch.allclose(multiplied, bench.logits())


def test_a_fixed_softmax_leaves_temperatures_alone(small_graph: Graph) -> None:
    bench = Bench(small_graph, {"gen_gradient": "stopped"})
    weights = {name: each.clone().requires_grad_() for name, each in bench.weights.items()}
    bench.logits(weights=weights).sum().backward()
    assert all(weights[f"layers.{layer}.temperature"].grad is None for layer in range(3))
    torch.testing.assert_close(bench.logits(), Bench(small_graph).logits())


def test_half_precision_maps_are_near_and_learn(small_graph: Graph) -> None:
    bench, whole = Bench(small_graph, {"gen_precision": "bfloat16"}), Bench(small_graph)
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
    config = Bench(with_edge_features(small_graph), {"gen_mlp": 2}, layers).config
    masks = full_masks(config, small_graph).weights.keep
    wanted = {f"layers.{layer}.{kind}weight" for layer in range(layers) for kind in ("", "second_")}
    assert set(masks) == wanted
    assert masks["layers.1.second_weight"].shape == (8, 4)


def test_macs_by_hand(small_graph: Graph) -> None:
    """6 nodes, 10 entries, 4 features of 8 nonzero values, 4 hidden, 3 outputs, 2 edge features, 2 blocks."""
    graph = with_edge_features(small_graph)
    config: RunConfig = Bench(graph, layers=2).config
    counted = macs(config, graph, full_masks(config, graph)).by_convention()
    stored = int(small_graph.sparse_features.nnz)
    blocks = 2 * (6 * 4 * 4 + 10 * 2 * 4)
    assert counted["dense_features"]["transform"] == 6 * 4 * 4 + blocks + 6 * 4 * 3
    assert counted["sparse_features"]["transform"] == stored * 4 + blocks + 6 * 4 * 3
    assert counted["dense_features"]["aggregate"] == 2 * (10 + 6) * 4
