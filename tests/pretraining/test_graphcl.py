"""GraphCL's loss against a dense formulation, its gradient, and what training does."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt.datasets import Graph, load_graph
from glt.datasets.graph import Provenance, Split
from glt.errors import DataError
from glt.pretraining.augmentations import AUGMENTATIONS, View
from glt.pretraining.config import PretrainConfig
from glt.pretraining.graphcl import DISCRIMINATOR, ENCODER, SLOPE, GraphCL, drawn_views, pretrain, starting_tensors
from glt.seeds import stream
from glt.training.problem import Problem

SMALL = {"hidden": 8, "epochs": 6}


def hand_sized() -> Graph:
    generator = np.random.default_rng(0)
    edges = np.array([[0, 0, 1, 2, 3, 4, 5], [1, 2, 2, 3, 4, 5, 6]])
    none = np.empty(0, dtype=np.int64)
    features = csr_array((generator.random((8, 5)) * (generator.random((8, 5)) < 0.6)).astype(np.float32))
    return Graph("hand", edges, features, np.zeros(8, dtype=np.int64), Split(none, none, none), HAND_MADE)


HAND_MADE = Provenance("by hand", 0, 0, 0)


def objective(graph: Graph, views: tuple[View, View]) -> GraphCL:
    start = starting_tensors(graph.num_features, 3, stream(1, 0, "init"))
    return GraphCL(graph, views, start, dtype=torch.float64)


def dense_loss(graph: Graph, views: tuple[View, View], model: GraphCL, order: NDArray[np.int64]) -> float:
    """The formulas of the paper, with matrices of size N x N."""
    tensors = {name: tensor.detach().numpy() for name, tensor in model.tensors.items()}
    rows = graph.features.toarray().astype(np.float64)
    rows = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-30)

    def embed(edges: NDArray[np.int64], features: NDArray[np.float64]) -> NDArray[np.float64]:
        adjacency = np.eye(graph.num_nodes)
        adjacency[edges[0], edges[1]] = adjacency[edges[1], edges[0]] = 1
        root = 1 / np.sqrt(adjacency.sum(axis=1))
        hidden = (root[:, None] * adjacency * root) @ features @ tensors[ENCODER]
        return np.where(hidden > 0, hidden, tensors[SLOPE] * hidden)

    def sigmoid(value: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 / (1 + np.exp(-value))

    def scores(hidden: NDArray[np.float64]) -> NDArray[np.float64]:
        summaries = [sigmoid(embed(v.edges, rows * v.visible[:, None])[v.members].mean(axis=0)) for v in views]
        return sum((hidden @ tensors[DISCRIMINATOR] @ s for s in summaries), np.zeros(graph.num_nodes))

    real, false = sigmoid(scores(embed(graph.edges, rows))), sigmoid(scores(embed(graph.edges, rows[order])))
    return float(-np.concatenate([np.log(real), np.log(1 - false)]).mean())


@pytest.mark.parametrize("name", ["edges", "features", "nodes", "subgraph"])
def test_the_loss_is_that_of_a_dense_formulation(name: str) -> None:
    graph = hand_sized()
    draw = AUGMENTATIONS.get(name).view
    views = (draw(graph, 0.3, stream(0, 0, "view 1")), draw(graph, 0.3, stream(0, 0, "view 2")))
    model, order = objective(graph, views), np.random.default_rng(2).permutation(8)
    loss = float(model.loss(torch.from_numpy(order)).detach())
    # Features are normalised in single precision.
    assert loss == pytest.approx(dense_loss(graph, views, model, order), abs=1e-7)


def test_the_gradient_is_that_of_finite_differences() -> None:
    graph = hand_sized()
    views = (
        AUGMENTATIONS.get("nodes").view(graph, 0.3, stream(0, 0, "view 1")),
        AUGMENTATIONS.get("features").view(graph, 0.3, stream(0, 0, "view 2")),
    )
    model, order = objective(graph, views), torch.from_numpy(np.random.default_rng(2).permutation(8))
    names = list(model.tensors)

    def loss(*values: torch.Tensor) -> torch.Tensor:
        model.tensors = dict(zip(names, values, strict=True))
        return model.loss(order)

    assert torch.autograd.gradcheck(loss, tuple(model.tensors.values()))


def test_equal_seeds_give_equal_bits_and_others_do_not() -> None:
    graph, config = load_graph("cora"), PretrainConfig(**SMALL)
    first, again, other = (pretrain(graph, config, seed, lambda *_: None) for seed in (0, 0, 1))
    assert first.weight.tobytes() == again.weight.tobytes()
    assert first.loss == again.loss
    assert first.weight.tobytes() != other.weight.tobytes()
    assert first.weight.shape == (1433, 8)


def test_the_encoder_starts_where_a_random_run_of_the_seed_does() -> None:
    from glt.presets import resolve

    theta0 = Problem(resolve({"hidden": 8}), load_graph("cora")).initial_weights(5)
    start = starting_tensors(1433, 8, stream(5, 0, "init"))
    np.testing.assert_array_equal(start[ENCODER], theta0[ENCODER])


def test_it_learns_and_keeps_the_epoch_of_the_lowest_loss() -> None:
    losses: list[float] = []
    config = PretrainConfig(hidden=16, epochs=60, learning_rate=0.01)
    result = pretrain(load_graph("cora"), config, 0, lambda _, loss: losses.append(loss))
    assert losses[0] == pytest.approx(np.log(2), abs=0.01)
    assert result.loss == min(losses) < 0.6
    assert result.best_epoch == losses.index(min(losses))
    assert result.epochs == len(losses)


def test_patience_ends_it() -> None:
    losses: list[float] = []
    config = PretrainConfig(hidden=4, epochs=500, patience=2, learning_rate=3.0)
    result = pretrain(load_graph("cora"), config, 0, lambda _, loss: losses.append(loss))
    assert result.epochs < 500
    assert result.epochs == result.best_epoch + 3
    assert min(losses[-2:]) >= result.loss


def test_both_views_are_drawn_once_and_differ() -> None:
    graph, config = load_graph("cora"), PretrainConfig(augmentation="nodes")
    first, second = drawn_views(graph, config, 0)
    assert not np.array_equal(first.members, second.members)
    np.testing.assert_array_equal(first.members, drawn_views(graph, config, 0)[0].members)


def test_a_loss_that_is_no_number_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GraphCL, "loss", lambda *_: torch.tensor(float("nan"), requires_grad=True))
    with pytest.raises(DataError, match="became nan in epoch 0: lower learning_rate"):
        pretrain(load_graph("cora"), PretrainConfig(**SMALL), 0, lambda *_: None)
