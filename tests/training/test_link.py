"""Link prediction: the split and its scores, and the three objectives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.datasets import DATASETS, Graph, load_graph
from glt.datasets.graph import LinkSplit
from glt.datasets.link_split import split_links
from glt.errors import ConfigError, DataError
from glt.masks import EdgeMask
from glt.models import MODELS
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import ConstantMatrix, Dropout, Features, GraphOperator, row_products
from glt.training.network import Network
from glt.training.problem import Problem, network_shape, tensor_specs
from glt.training.tasks import TASKS, TrainingPass, link, message_graph, metric_of
from glt.training.tasks.link import (
    CLUSTER_FORM,
    GRAPH_FORM,
    SLOPE,
    CrossEntropy,
    Hadamard,
    InfoClust,
    LinkObjective,
    directions,
    roc_auc,
)
from glt.training.trainer import EpochResult, Schedule, Stage

LINK = TASKS.get("link")
Weights = Mapping[str, Tensor]
EDGES = np.array([[0, 0, 1, 2, 4], [1, 2, 2, 3, 5]])


@pytest.mark.parametrize("objective", ["gic", "bce"])
def test_held_out_edges_are_in_no_message_mask_or_positive(objective: str) -> None:
    graph = load_graph("cora")
    problem = Problem(resolve({"task": "link", "hidden": 4, "link_objective": objective}), graph)
    split = split_links(graph, 0)
    held_out = set(zip(*np.concatenate([split.val, split.test], axis=1), strict=True))
    assert not held_out & set(zip(*problem.graph.edges, strict=True))
    masks = problem.full_masks()
    assert masks.edges.keep.size == 2 * problem.graph.num_edges == 2 * 4488
    structure = GraphOperator(problem.graph, masks.edges).structure
    used = set(zip(structure.row.tolist(), structure.col.tolist(), strict=True))
    assert not held_out & (used | {(j, i) for i, j in used})


def test_bce_positives_are_the_training_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embeddings that separate only held-out pairs do not change the loss."""
    graph = load_graph("cora")
    seen: list[Tensor] = []
    config = resolve({"task": "link", "hidden": 4, "link_objective": "bce"})
    task = LINK.bind(graph, config, "cpu")
    monkeypatch.setattr(CrossEntropy, "pair_scores", lambda self, rows, pairs: seen.append(pairs) or rows[pairs[0], 0])
    step = TrainingPass(torch.rand(graph.num_nodes, 16), {SLOPE: torch.ones(1)}, np.random.default_rng(0), lambda o: o)
    task.loss(step)
    task.loss(step)
    split = split_links(graph, 0)
    for pairs in seen:
        assert np.array_equal(pairs[:, :4488].numpy(), split.train)
        training = set(zip(*split.train, strict=True))
        assert pairs.shape[1] == 2 * 4488
        assert not training & set(zip(*pairs[:, 4488:].numpy(), strict=True))
    assert not torch.equal(seen[0][:, 4488:], seen[1][:, 4488:])


def test_scores_use_the_held_out_pairs() -> None:
    """Embeddings that separate only the test edges score 1 there and about a half on validation."""
    graph = load_graph("cora")
    split = split_links(graph, 0)
    task = LINK.bind(graph, resolve({"task": "link", "link_objective": "bce"}), "cpu")
    ends = np.concatenate([split.test, split.test_negatives], axis=1)
    first = torch.zeros(graph.num_nodes, ends.shape[1], dtype=torch.float32)
    truth = np.repeat([1.0, -1.0], split.test.shape[1]).astype(np.float32)
    first[ends[0], np.arange(truth.size)] = 1
    first[ends[1], np.arange(truth.size)] = torch.from_numpy(truth)
    scores = task.scores(first, {SLOPE: torch.ones(1)})
    assert scores.test == 1
    assert scores.val < 0.7

    with pytest.raises(DataError, match="lower learning_rate"):
        task.scores(torch.full((2708, 2), torch.nan), {SLOPE: torch.ones(1)})


def test_theta_0_and_split_do_not_depend_on_objective_or_method() -> None:
    gic, bce = (
        Problem(resolve({"task": "link", "hidden": 4, "link_objective": name}), load_graph("cora")).initial_weights(0)
        for name in ("gic", "bce")
    )
    assert set(gic) - set(bce) == {GRAPH_FORM, CLUSTER_FORM}
    assert all(np.array_equal(gic[name], value) for name, value in bce.items())
    assert gic[SLOPE].tolist() == [0.25]
    one, same = (message_graph(resolve({"task": "link", **s})) for s in ({}, {"method": "admm", "model": "gat"}))
    assert one is same
    assert not np.array_equal(message_graph(resolve({"task": "link", "split_seed": 1})).edges, one.edges)


def test_hyper_parameters_equal_the_authors() -> None:
    config = resolve({"task": "link", "dataset": "pubmed", "model": "gat"}, "official")
    assert (config.learning_rate, config.weight_decay, config.dropout) == (1e-3, 0.0, 0.0)
    assert (config.gamma_graph, config.gamma_weight, config.epochs, config.retrain_epochs) == (1e-4, 1e-4, 200, 200)
    assert (config.options["gat_heads"], config.options["hidden_activation"]) == (1, "none")
    assert resolve({"task": "link", "link_objective": "bce"}).learning_rate == 1e-2
    assert resolve({"task": "link", "link_objective": "bce", "learning_rate": 1e-3}).learning_rate == 1e-3
    assert resolve({"task": "link", "model": "gat", "gat_heads": 4}).options["gat_heads"] == 4
    assert resolve({"model": "gat"}).options["gat_heads"] == 8
    # More clusters than nodes do not matter to another objective.
    assert resolve({"task": "link", "link_objective": "bce", "gic_clusters": 5000}).options["gic_clusters"] == 5000


@pytest.mark.parametrize(
    ("changes", "values", "sentence"),
    [
        ({"edges": 19}, {}, "Cora has 19 edges, too few for link prediction"),
        ({"tasks": ("node",)}, {}, "Data set 'cora' cannot be used for task 'link'; its tasks: node."),
        ({}, {"gic_clusters": 2709}, "gic_clusters cannot be 2709: Cora has 2708 nodes"),
        ({}, {"split_seed": -1}, "split_seed must be at least 0, not -1"),
        ({}, {"link_objective": "dgi"}, "link_objective cannot be 'dgi'"),
    ],
)
def test_impossible_settings_are_refused(
    monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, Any], values: Mapping[str, Any], sentence: str
) -> None:
    registered = DATASETS.get
    monkeypatch.setattr(DATASETS, "get", lambda name: replace(registered(name), **changes))
    with pytest.raises(ConfigError, match=sentence):
        resolve({"task": "link", **values})


def test_a_graph_with_too_few_edges_is_refused(monkeypatch: pytest.MonkeyPatch, small_graph: Graph) -> None:
    monkeypatch.setattr("glt.training.tasks.link.load_graph", lambda name: small_graph)
    with pytest.raises(DataError, match="small has too few edges"):
        resolve({"task": "link"})


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


def bce(true: Tensor, false: Tensor) -> Tensor:
    return -torch.cat([torch.sigmoid(true).log(), (1 - torch.sigmoid(false)).log()]).mean()


def test_bce_is_cross_entropy_of_inner_products(encoder: Encoder) -> None:
    graph = encoder.graph
    rows = encoder.dense_embeddings()
    scores = rows @ rows.t()
    drawn = np.random.default_rng(0).integers(10, size=5)
    others = [(i, j) for i in range(6) for j in range(i + 1, 6) if (i, j) not in set(zip(*graph.edges, strict=True))]
    false = torch.stack([scores[others[number]] for number in drawn])
    expected = bce(scores[tuple(graph.edges)], false)
    torch.testing.assert_close(CrossEntropy(graph, "cpu").loss(encoder.step()), expected)


def test_gic_equals_its_formula(encoder: Encoder) -> None:
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


@pytest.mark.parametrize("name", ["bce", "gic"])
def test_gradients_of_all_tensors_check(encoder: Encoder, name: str) -> None:
    of_gic = {GRAPH_FORM, CLUSTER_FORM}
    objective: LinkObjective = InfoClust(clusters=3, beta=4.0, iterations=0, alpha=0.3)
    used = {"edges": encoder.edges, **encoder.weights}
    if name == "bce":
        objective = CrossEntropy(encoder.graph, "cpu")
        used = {name: tensor for name, tensor in used.items() if name not in of_gic}
    assert torch.autograd.gradcheck(lambda *_: objective.loss(encoder.step()), tuple(used.values()))


def test_zero_embeddings_keep_pair_score_gradients_finite() -> None:
    rows = torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    pairs = torch.tensor([[0, 0], [1, 2]])
    cross_entropy, info_clust = CrossEntropy(load_graph("cora"), "cpu"), InfoClust(1, 1.0, 0, 0.5)
    assert cross_entropy.pair_scores(rows, pairs).tolist() == [3.0, 0.0]
    assert info_clust.pair_scores(rows, pairs).tolist() == [pytest.approx(0.6), 0.0]
    (gradient,) = torch.autograd.grad(directions(rows).sum(), rows)
    assert float(gradient.abs().max()) <= 1


def test_more_gic_iterations_move_the_centres(encoder: Encoder) -> None:
    losses = {steps: InfoClust(3, 4.0, steps, 0.0).loss(encoder.step()).item() for steps in (0, 10, 11)}
    assert losses[0] != losses[10]
    assert losses[10] == pytest.approx(losses[11], abs=1e-3)


def test_roc_auc_equals_the_share_of_ordered_couples() -> None:
    assert roc_auc(np.zeros(4), np.zeros(7)) == 0.5
    rng = np.random.default_rng(0)
    true, false = rng.integers(0, 9, 40), rng.integers(0, 9, 30)
    won = (true[:, None] > false) + 0.5 * (true[:, None] == false)
    assert roc_auc(true, false) == pytest.approx(float(won.mean()))


def predictor(width: int) -> dict[str, Tensor]:
    config = resolve({"task": "link", "link_objective": "hadamard"})
    generator = torch.Generator().manual_seed(2)
    return {
        spec.name: torch.randn(*spec.shape, dtype=torch.float64, generator=generator)
        for spec in LINK.tensors(config, width)
    }


def dense_logit(rows: Tensor, weights: Mapping[str, Tensor], i: int, j: int) -> Tensor:
    value = rows[i] * rows[j]
    for layer in range(3):
        value = torch.relu(value) if layer else value
        value = value @ weights[f"link.predictor.{layer}.weight"] + weights[f"link.predictor.{layer}.bias"]
    return value[0]


def step(rows: Tensor, weights: Mapping[str, Tensor], seed: int, batch: np.ndarray | None) -> TrainingPass:
    return TrainingPass(rows, weights, np.random.default_rng(seed), lambda order: rows[order], batch)


def test_hadamard_loss_equals_the_sum_over_single_pairs() -> None:
    rows = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    weights = predictor(3)
    loss = Hadamard(EDGES, 6, "cpu").loss(step(rows, weights, 5, EDGES[:, :4]))
    drawn = np.random.default_rng(5).integers(0, 6, (2, 4))
    true = [torch.sigmoid(dense_logit(rows, weights, i, j)).log() for i, j in EDGES[:, :4].T]
    false = [(1 - torch.sigmoid(dense_logit(rows, weights, i, j))).log() for i, j in drawn.T]
    expected = -torch.stack(true).mean() - torch.stack(false).mean()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(torch.autograd.grad(loss, rows), torch.autograd.grad(expected, rows))


def test_an_epoch_visits_every_training_edge_once_in_a_new_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "EDGES_A_STEP", 2)
    objective, generator = Hadamard(EDGES, 6, "cpu"), np.random.default_rng(0)
    epochs = [list(objective.batches(generator)) for _ in range(2)]
    assert [[batch.shape[1] for batch in batches] for batches in epochs] == [[2, 2, 1], [2, 2, 1]]
    orders = [[tuple(edge) for edge in np.concatenate(batches, axis=1).T] for batches in epochs]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(map(tuple, EDGES.T))


def test_scores_do_not_depend_on_chunking(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, weights = torch.randn(6, 3, dtype=torch.float64), predictor(3)
    pairs = torch.randint(0, 6, (2, 11))
    whole = Hadamard(EDGES, 6, "cpu").scores(rows, weights, pairs)
    monkeypatch.setattr(link, "PAIRS_AT_A_TIME", 3)
    torch.testing.assert_close(Hadamard(EDGES, 6, "cpu").scores(rows, weights, pairs), whole)
    expected = torch.stack([dense_logit(rows, weights, int(i), int(j)) for i, j in pairs.T])
    torch.testing.assert_close(whole, expected)


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_gradients_of_repeated_rows_are_deterministic_on_two_threads() -> None:
    """Indexing instead of `index_select` fails here: threads add to a row in any order."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(50, 64, generator=generator).requires_grad_()
    pairs = torch.randint(0, 50, (2, 60_000), generator=generator)
    upward = torch.randn(60_000, 64, generator=generator)
    gradients = [torch.autograd.grad(row_products(rows, pairs), rows, upward)[0] for _ in range(4)]
    torch.set_num_threads(1)
    alone = torch.autograd.grad(row_products(rows, pairs), rows, upward)[0]
    assert all(torch.equal(gradient, alone) for gradient in gradients)


def test_the_predictor_is_never_pruned_and_starts_without_biases() -> None:
    problem = Problem(resolve({"task": "link", "link_objective": "hadamard", "hidden": 4}), load_graph("cora"))
    start = problem.initial_weights(0)
    shapes = {name: value.shape for name, value in start.items() if name.startswith("link.")}
    assert shapes == {
        **{f"link.predictor.{layer}.weight": (4, 1 if layer == 2 else 4) for layer in range(3)},
        **{f"link.predictor.{layer}.bias": (1 if layer == 2 else 4,) for layer in range(3)},
    }
    assert not any(start[name].any() for name in shapes if name.endswith("bias"))
    assert not shapes.keys() & problem.full_masks().weights.keep.keys()
    assert start["layers.1.weight"].shape == (4, 4)


def test_link_prediction_on_cora_beats_chance() -> None:
    """With the 85/5/10 split, ROC-AUC is far above chance after some epochs, and each epoch is one step there."""
    config = resolve({"task": "link", "link_objective": "hadamard", "hidden": 32})
    problem = Problem(config, load_graph("cora"))
    seen: list[EpochResult] = []
    network = Network(problem, problem.full_masks(), problem.initial_weights(0))
    result = Stage(network, Schedule(30, config.learning_rate, 0.0), stream(0, 0, "retrain")).run(seen.append)
    assert metric_of("cora", "link") == "ROC-AUC"
    assert result.best.test > 0.7
    assert seen[-1].loss < seen[0].loss


def own_split(negatives: int) -> LinkSplit:
    """Training edges are those of the small graph; held out are one edge and two, negatives pair node 0 with itself."""
    none = np.zeros((2, negatives), dtype=np.int64)
    return LinkSplit(EDGES, np.array([[3], [4]]), np.array([[1, 3], [3, 5]]), none, none)


@pytest.mark.usefixtures("benchmark_sets")
class TestAnOwnSplit:
    """A data set that brings its split: messages, objective, score and refusals."""

    @pytest.fixture
    def graph(self, small_graph: Graph) -> Graph:
        return replace(small_graph, links=own_split(60))

    def test_all_edges_carry_messages(self, graph: Graph) -> None:
        for seed in (0, 1):
            config = resolve({"dataset": "ogbl-collab", "task": "link", "split_seed": seed})
            assert LINK.message_graph(graph, config) is graph
            assert LINK.objective(config) == "Hadamard products"
        assert metric_of("ogbl-collab", "link") == "Hits@50"
        assert LINK.message_edges(1000, DATASETS.get("ogbl-collab")) == 1000
        assert LINK.message_edges(1000, DATASETS.get("cora")) == 850

    @pytest.mark.parametrize("objective", ["hadamard", "bce", "gic"])
    def test_hits_use_the_supplied_negatives(self, graph: Graph, objective: str) -> None:
        """Every pair has the score of a node with itself, but that of one test edge is higher."""
        settings = {"dataset": "ogbl-collab", "task": "link", "link_objective": objective, "gic_clusters": 2}
        problem = Problem(resolve({**settings, "hidden": 4}), graph)
        weights = {name: torch.from_numpy(value) for name, value in problem.initial_weights(0).items()}
        if objective == "hadamard":
            weights = {name: value.abs() for name, value in weights.items()}
        rows = torch.zeros(6, problem.specs[-1].shape[0] if objective == "gic" else 4)
        rows[[3, 5], 0] = 1
        assert problem.task.scores(rows, weights).test == 0.5
        assert problem.task.scores(rows, weights).val == 0

    def test_positives_are_the_training_edges(self, graph: Graph) -> None:
        task = LINK.bind(graph, resolve({"dataset": "ogbl-collab", "task": "link", "hidden": 4}), "cpu")
        (batch,) = task.batches(np.random.default_rng(0))
        assert sorted(map(tuple, batch.T)) == sorted(map(tuple, EDGES.T))

    def test_too_few_negatives_are_refused(self, graph: Graph) -> None:
        """The evaluator itself would return a perfect score."""
        config = resolve({"dataset": "ogbl-collab", "task": "link", "hidden": 4})
        with pytest.raises(DataError, match="small has 1 validation edges and 49 negatives, but Hits@50 needs"):
            LINK.bind(replace(graph, links=own_split(49)), config, "cpu")


def test_a_split_is_drawn_for_a_graph_without_one() -> None:
    graph = load_graph("cora")
    config = resolve({"task": "link", "link_objective": "hadamard", "hidden": 4, "split_seed": 3})
    task = LINK.bind(graph, config, "cpu")
    (batch,) = task.batches(np.random.default_rng(0))
    assert sorted(map(tuple, batch.T)) == sorted(map(tuple, split_links(graph, 3).train.T))


@pytest.mark.parametrize(("size", "steps"), [(3000, [3000, 1488]), (10_000, [4488])])
def test_edge_batches_step_once_each(monkeypatch: pytest.MonkeyPatch, size: int, steps: list[int]) -> None:
    monkeypatch.setattr(link, "EDGES_A_STEP", size)
    problem = Problem(resolve({"task": "link", "link_objective": "hadamard", "hidden": 4}), load_graph("cora"))
    seen, loss = list[int](), problem.task.loss
    monkeypatch.setattr(problem.task, "loss", lambda step: seen.append(step.batch.shape[1]) or loss(step))
    network = Network(problem, problem.full_masks(), problem.initial_weights(0))
    Stage(network, Schedule(1, 0.01, 0.0), stream(0, 0, "x")).run(lambda _: None)
    assert seen == steps
