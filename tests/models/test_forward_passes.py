"""Every network on a hand-sized graph: against its formula written with dense matrices, and under masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.config import RunConfig
from glt.datasets.graph import Graph
from glt.masks import EdgeMask
from glt.models import MODELS, NetworkShape
from glt.presets import resolve
from glt.sparse import ConstantMatrix, Dropout, Features, GraphOperator

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
