"""Passes on receptive fields give the losses, gradients and scores of passes on the whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.data import load_graph
from glt.masks import Masks
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import Dropout
from glt.training.batching import ClusterBatch, FieldBatch, FullBatch, Passes, field_batch, passes_of
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem

SMALL = {"dataset": "cora", "hidden": 8, "epochs": 5, "retrain_epochs": 5}


def pruned(problem: Problem) -> Masks:
    """Masks with a fifth of the entries and half of the weights gone."""
    full, rng = problem.full_masks(), np.random.default_rng(0)
    scores = {name: rng.random(keep.shape) for name, keep in full.weights.keep.items()}
    return Masks(full.edges.prune(rng.random(full.edges.kept), 0.2), full.weights.prune(scores, 0.5))


def network_of(problem: Problem, soft: bool) -> Network:
    masks = pruned(problem)
    start = SoftMasks.around_one(masks, 0.3, stream(0, 1, "start"), "cpu") if soft else None
    return Network(problem, masks, problem.initial_weights(0), start)


def on_fields(network: Network) -> FieldBatch:
    """Passes on fields of any size."""
    problem = network.problem
    reads, depth = problem.task.reads(), problem.model.messages(problem.config)
    assert reads is not None
    assert depth is not None
    return FieldBatch(network, reads, depth)


def one_epoch(passes: Passes, network: Network) -> tuple[float, dict[str, Tensor]]:
    """Return the loss and the gradient of every tensor in an epoch without a step."""
    generator = stream(0, 1, "x")
    for tensor in network.trainable().values():
        tensor.grad = None
    loss = passes.epoch(Dropout(network.problem.config.dropout, generator), generator, lambda loss: loss.backward())
    return loss, {name: tensor.grad for name, tensor in network.trainable().items() if tensor.grad is not None}


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {"degree": "source"},
        {"degree": "both", "layers": 3, "hidden": 5},
        {"edge_mask": "undirected", "dropout": 0.3},
        {"model": "gin"},
        {"model": "gin", "gin_aggregation": "mean", "gin_mlp": "one"},
        {"model": "gat", "gat_heads": 2},
        {"model": "gat", "gat_heads": 2, "gat_mask": "logit", "layers": 3},
    ],
)
def test_an_epoch_is_that_of_the_whole_graph(settings: dict[str, Any], soft: bool) -> None:
    problem = Problem(resolve({**SMALL, **settings}), load_graph("cora"))
    network = network_of(problem, soft)
    whole, field = FullBatch(network), on_fields(network)
    assert field.evaluate() == whole.evaluate()
    (loss, expected), (found_loss, found) = one_epoch(whole, network), one_epoch(field, network)
    assert found_loss == pytest.approx(loss, rel=1e-5)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-3, atol=1e-6)


def test_an_entry_that_reaches_no_training_node_has_no_gradient_at_all() -> None:
    problem = Problem(resolve(SMALL), load_graph("cora"))
    network = network_of(problem, soft=True)
    _, gradients = one_epoch(on_fields(network), network)
    field = network.operator.towards(np.unique(problem.graph.split.train), 2)
    reached = set(field.layer(0).nodes.tolist())
    source = problem.graph.entries()[0][pruned(problem).edges.keep]
    outside = torch.tensor([node not in reached for node in source.tolist()])
    assert outside.any()
    assert not gradients["mask/edges"][outside].any()
    assert gradients["mask/edges"][~outside].any()


def test_fields_are_used_where_they_are_small_and_all_nodes_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def passes(**settings: Any) -> Passes:
        problem = Problem(resolve({**SMALL, **settings}), load_graph("cora"))
        return passes_of(Network(problem, problem.full_masks(), problem.initial_weights(0)))

    assert isinstance(passes(), FieldBatch)
    assert isinstance(passes(layers=6), FullBatch)
    assert isinstance(passes(task="link"), FullBatch)
    assert isinstance(passes(model="resgcn", layers=2), FullBatch)
    assert isinstance(passes(model="resgcn", layers=2, batch_clusters=3), ClusterBatch)
    assert isinstance(passes(model="gin", gin_read_out="jumping"), FullBatch)


def test_a_split_without_training_nodes_has_no_field(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(resolve(SMALL), load_graph("cora"))
    nobody = np.empty(0, dtype=np.int64)
    monkeypatch.setattr(problem.task, "reads", lambda: (nobody, np.arange(5)))
    assert field_batch(network_of(problem, soft=False)) is None


def test_the_first_step_of_a_stage_finds_the_product_that_later_ones_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a stage which goes on from a checkpoint computes the very bits of one that was never stopped."""
    problem = Problem(resolve(SMALL), load_graph("cora"))
    network = network_of(problem, soft=True)
    passes = on_fields(network)
    monkeypatch.setattr(passes._trained.features._rows, "product", None)
    one_epoch(passes, network)
    passes.evaluate()
    one_epoch(passes, network)
