"""Both objectives of link prediction against dense formulas in double precision, scores of pairs, ROC-AUC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.data import Graph, load_graph
from glt.masks import EdgeMask
from glt.models import MODELS
from glt.presets import resolve
from glt.sparse import ConstantMatrix, Dropout, Features, GraphOperator
from glt.training.problem import network_shape, tensor_specs
from glt.training.tasks import TASKS, TrainingPass
from glt.training.tasks.link import (
    CLUSTER_FORM,
    GRAPH_FORM,
    SLOPE,
    CrossEntropy,
    InfoClust,
    LinkObjective,
    directions,
    roc_auc,
)

LINK = TASKS.get("link")
Weights = Mapping[str, Tensor]


class Encoder:
    """A GCN of two layers on the small graph in double precision, with random weights and a soft edge mask."""

    def __init__(self, graph: Graph) -> None:
        self.config = resolve({"task": "link", "hidden": 3, "link_dimension": 2})
        specs = tensor_specs(self.config, network_shape(self.config, replace(graph.sizes, outputs=3)))
        generator = torch.Generator().manual_seed(3)
        self.weights = {
            spec.name: torch.randn(*spec.shape, dtype=torch.float64, generator=generator).requires_grad_()
            for spec in specs
        }
        self.graph = graph
        self.features = Features(ConstantMatrix(graph.features, dtype=torch.float64))
        self.operator = GraphOperator(graph, EdgeMask.full("directed", graph.num_edges), dtype=torch.float64)
        self.edges = torch.linspace(0.5, 1.5, 2 * graph.num_edges, dtype=torch.float64).requires_grad_()

    def step(self, seed: int = 0) -> TrainingPass:
        def output(features: Features) -> Tensor:
            model = MODELS.get("gcn")
            stem = model.stem(self.operator, self.edges, features, self.weights, self.config)
            return model.head(stem, self.weights, Dropout(0, None), self.config)

        generator = np.random.default_rng(seed)
        return TrainingPass(
            output(self.features), self.weights, generator, lambda order: output(self.features.shuffled(order))
        )

    def dense_embeddings(self, order: np.ndarray[Any, Any] | None = None) -> Tensor:
        """Return PReLU(A^ A^ X W0 W1): no activation between the layers."""
        count = self.graph.num_nodes
        source, target = self.graph.entries()
        matrix = torch.zeros(count, count, dtype=torch.float64)
        matrix[target, source] = self.edges
        matrix = matrix + torch.eye(count)
        # Degrees of the sending side at both ends.
        scale = matrix.sum(dim=0).rsqrt()
        matrix = scale[:, None] * matrix * scale
        rows = torch.from_numpy(self.graph.features.toarray()).double()
        rows = rows if order is None else rows[order]
        result = matrix @ (matrix @ (rows @ self.weights["layers.0.weight"])) @ self.weights["layers.1.weight"]
        return torch.where(result > 0, result, self.weights[SLOPE] * result)


@pytest.fixture
def encoder(small_graph: Graph) -> Encoder:
    return Encoder(small_graph)


def objectives(graph: Graph) -> list[LinkObjective]:
    return [CrossEntropy(graph, "cpu"), InfoClust(clusters=3, beta=4.0, iterations=0, alpha=0.3)]


def bce(true: Tensor, false: Tensor) -> Tensor:
    return -torch.cat([torch.sigmoid(true).log(), (1 - torch.sigmoid(false)).log()]).mean()


def test_cross_entropy_is_that_of_inner_products(encoder: Encoder) -> None:
    graph = encoder.graph
    rows = encoder.dense_embeddings()
    scores = rows @ rows.t()
    drawn = np.random.default_rng(0).integers(10, size=5)
    others = [(i, j) for i in range(6) for j in range(i + 1, 6) if (i, j) not in set(zip(*graph.edges, strict=True))]
    false = torch.stack([scores[others[number]] for number in drawn])
    expected = bce(scores[tuple(graph.edges)], false)
    torch.testing.assert_close(CrossEntropy(graph, "cpu").loss(encoder.step()), expected)


def test_gic_is_its_formula(encoder: Encoder) -> None:
    generator = np.random.default_rng(0)
    order, start = generator.permutation(6), generator.choice(6, 3, replace=False)
    true, false = encoder.dense_embeddings(), encoder.dense_embeddings(order)
    summary = torch.sigmoid(true.mean(dim=0))
    form, cluster_form = encoder.weights[GRAPH_FORM], encoder.weights[CLUSTER_FORM]
    first = bce(torch.stack([h @ form @ summary for h in true]), torch.stack([h @ form @ summary for h in false]))
    units = torch.stack([h / h.norm() if h.norm() else h for h in true])
    centres = units[start].detach()
    for _ in range(2):
        cosines = torch.stack([units @ (mu / mu.norm()) for mu in centres], dim=1)
        shares = torch.softmax(4.0 * cosines, dim=1)
        before, centres = centres, (shares.t() @ units) / shares.sum(dim=0)[:, None]
    own = torch.sigmoid(shares @ before)
    second = bce(
        torch.stack([h @ cluster_form @ z for h, z in zip(true, own, strict=True)]),
        torch.stack([h @ cluster_form @ z for h, z in zip(false, own, strict=True)]),
    )
    loss = InfoClust(clusters=3, beta=4.0, iterations=0, alpha=0.3).loss(encoder.step())
    torch.testing.assert_close(loss, 0.3 * first + 0.7 * second)


@pytest.mark.parametrize("number", [0, 1], ids=["bce", "gic"])
def test_gradients_of_all_tensors_check(encoder: Encoder, number: int) -> None:
    objective = objectives(encoder.graph)[number]
    of_gic = {GRAPH_FORM, CLUSTER_FORM}
    used = [encoder.edges, *(t for name, t in encoder.weights.items() if number or name not in of_gic)]

    def loss(*_: Tensor) -> Tensor:
        return objective.loss(encoder.step())

    assert torch.autograd.gradcheck(loss, used)


def test_a_zero_embedding_keeps_gradients_finite() -> None:
    rows = torch.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    units = directions(rows)
    units.sum().backward()
    assert units.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]
    assert rows.grad is not None
    assert float(rows.grad.abs().max()) <= 1


def test_more_iterations_move_the_centres(encoder: Encoder) -> None:
    losses = {steps: InfoClust(3, 4.0, steps, 0.0).loss(encoder.step()).item() for steps in (0, 10, 11)}
    assert losses[0] != losses[10]
    assert losses[10] == pytest.approx(losses[11], abs=1e-3)


def test_pairs_are_scored_by_inner_product_or_cosine() -> None:
    rows, pairs = torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, 0.0]]), torch.tensor([[0, 0], [1, 2]])
    cross_entropy, info_clust = CrossEntropy(load_graph("cora"), "cpu"), InfoClust(1, 1.0, 0, 0.5)
    assert cross_entropy.pair_scores(rows, pairs).tolist() == [3.0, 0.0]
    assert info_clust.pair_scores(rows, pairs).tolist() == [pytest.approx(0.6), 0.0]


def test_roc_auc_counts_couples() -> None:
    """True .9, .5, .5 against false .5, .1: won 1 + 1, 0.5 + 1, 0.5 + 1 of 6 couples."""
    assert roc_auc(np.array([0.9, 0.5, 0.5]), np.array([0.5, 0.1])) == pytest.approx(5 / 6)
    assert roc_auc(np.zeros(4), np.zeros(7)) == 0.5
    rng = np.random.default_rng(0)
    true, false = rng.normal(1, 1, 40), rng.normal(0, 1, 30)
    assert roc_auc(true, false) == pytest.approx(float((true[:, None] > false).mean()))
