"""Links told by products of rows: a dense formulation, batches, one gradient on any number of threads, own splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.data import DATASETS, Graph, load_graph
from glt.data.graph import LinkSplit
from glt.data.link_split import split_links
from glt.errors import DataError
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import row_products
from glt.training.network import Network
from glt.training.problem import Problem
from glt.training.tasks import TASKS, TrainingPass, link, metric_of
from glt.training.tasks.link import Hadamard
from glt.training.trainer import EpochResult, Schedule, train

LINK = TASKS.get("link")
EDGES = np.array([[0, 0, 1, 2, 4], [1, 2, 2, 3, 5]])


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


def test_the_loss_is_that_of_single_pairs() -> None:
    rows = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    weights = predictor(3)
    loss = Hadamard(EDGES, 6, "cpu").loss(step(rows, weights, 5, EDGES[:, :4]))
    drawn = np.random.default_rng(5).integers(0, 6, (2, 4))
    true = [torch.sigmoid(dense_logit(rows, weights, i, j)).log() for i, j in EDGES[:, :4].T]
    false = [(1 - torch.sigmoid(dense_logit(rows, weights, i, j))).log() for i, j in drawn.T]
    expected = -torch.stack(true).mean() - torch.stack(false).mean()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(torch.autograd.grad(loss, rows), torch.autograd.grad(expected, rows))


def test_an_epoch_goes_once_through_all_training_edges_in_a_new_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "EDGES_A_STEP", 2)
    objective, generator = Hadamard(EDGES, 6, "cpu"), np.random.default_rng(0)
    epochs = [list(objective.batches(generator)) for _ in range(2)]
    assert [[batch.shape[1] for batch in batches] for batches in epochs] == [[2, 2, 1], [2, 2, 1]]
    orders = [[tuple(edge) for edge in np.concatenate(batches, axis=1).T] for batches in epochs]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(map(tuple, EDGES.T))


def test_scores_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_the_gradient_of_repeated_rows_is_the_same_bits_on_two_threads() -> None:
    """Indexing in place of `index_select` fails here: threads add to a row in the order in which they come by."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(50, 64, generator=generator).requires_grad_()
    pairs = torch.randint(0, 50, (2, 60_000), generator=generator)
    upward = torch.randn(60_000, 64, generator=generator)
    gradients = [torch.autograd.grad(row_products(rows, pairs), rows, upward)[0] for _ in range(4)]
    torch.set_num_threads(1)
    alone = torch.autograd.grad(row_products(rows, pairs), rows, upward)[0]
    assert all(torch.equal(gradient, alone) for gradient in gradients)


def test_row_products_equal_dense_and_gradients_check() -> None:
    rows = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    pairs = torch.tensor([[0, 1, 1, 3], [1, 1, 2, 0]])
    torch.testing.assert_close(row_products(rows, pairs), rows[pairs[0]] * rows[pairs[1]])
    assert torch.autograd.gradcheck(lambda rows: row_products(rows, pairs), (rows,))


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


def test_links_of_cora_are_learned() -> None:
    """With the 85/5/10 split, ROC-AUC is far above chance after some epochs, and each epoch is one step there."""
    config = resolve({"task": "link", "link_objective": "hadamard", "hidden": 32})
    problem = Problem(config, load_graph("cora"))
    seen: list[EpochResult] = []
    network = Network(problem, problem.full_masks(), problem.initial_weights(0))
    result = train(network, Schedule(30, config.learning_rate, 0.0), stream(0, 0, "retrain"), seen.append)
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

    def test_all_edges_of_the_graph_carry_messages_whatever_the_seed(self, graph: Graph) -> None:
        configs = [resolve({"dataset": "ogbl-collab", "task": "link", "split_seed": seed}) for seed in (0, 1)]
        assert all(LINK.message_graph(graph, config) is graph for config in configs)

    def test_nothing_has_to_be_held_out_and_the_files_are_not_read(self) -> None:
        config = resolve({"dataset": "ogbl-collab", "task": "link"})
        assert config.options["link_objective"] == "hadamard"
        assert LINK.objective(config) == "Hadamard products"
        assert metric_of("ogbl-collab", "link") == "Hits@50"

    @pytest.mark.parametrize("objective", ["hadamard", "bce", "gic"])
    def test_hits_are_counted_against_its_own_negatives(self, graph: Graph, objective: str) -> None:
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

    def test_pairs_for_training_are_its_training_edges(self, graph: Graph) -> None:
        task = LINK.bind(graph, resolve({"dataset": "ogbl-collab", "task": "link", "hidden": 4}), "cpu")
        (batch,) = task.batches(np.random.default_rng(0))
        assert sorted(map(tuple, batch.T)) == sorted(map(tuple, EDGES.T))

    def test_too_few_negatives_are_refused_at_once(self, graph: Graph) -> None:
        """The evaluator itself would call every score perfect."""
        config = resolve({"dataset": "ogbl-collab", "task": "link", "hidden": 4})
        with pytest.raises(DataError, match="small has 1 validation edges and 49 pairs without one, but Hits@50 needs"):
            LINK.bind(replace(graph, links=own_split(49)), config, "cpu")

    def test_estimates_count_all_its_edges(self) -> None:
        assert LINK.message_edges(1000, DATASETS.get("ogbl-collab")) == 1000
        assert LINK.message_edges(1000, DATASETS.get("cora")) == 850


def test_another_split_is_drawn_where_a_graph_brings_none() -> None:
    graph = load_graph("cora")
    config = resolve({"task": "link", "link_objective": "hadamard", "hidden": 4, "split_seed": 3})
    task = LINK.bind(graph, config, "cpu")
    (batch,) = task.batches(np.random.default_rng(0))
    assert sorted(map(tuple, batch.T)) == sorted(map(tuple, split_links(graph, 3).train.T))


def noted_batches(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return what will hold the number of edges of every step that is trained."""
    seen: list[int] = []
    loss = problem.task.loss
    monkeypatch.setattr(problem.task, "loss", lambda step: seen.append(step.batch.shape[1]) or loss(step))
    return seen


def test_a_network_with_batches_of_edges_steps_once_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, results = load_graph("cora"), []
    for size in (3000, 10_000):
        monkeypatch.setattr(link, "EDGES_A_STEP", size)
        problem = Problem(resolve({"task": "link", "link_objective": "hadamard", "hidden": 4}), graph)
        seen = noted_batches(problem, monkeypatch)
        network = Network(problem, problem.full_masks(), problem.initial_weights(0))
        train(network, Schedule(1, 0.01, 0.0), stream(0, 0, "x"), lambda _: None)
        results.append(seen)
    assert results == [[3000, 1488], [4488]]
