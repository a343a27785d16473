"""The link task: nothing held out leaks, the split is shared, hyper-parameters and bad input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.data import DATASETS, Graph, load_graph
from glt.data.link_split import split_links
from glt.errors import ConfigError, DataError
from glt.presets import resolve
from glt.sparse import Dropout, GraphOperator
from glt.training.problem import Problem
from glt.training.tasks import TASKS, TrainingPass, message_graph
from glt.training.tasks.link import CLUSTER_FORM, GRAPH_FORM, SLOPE, CrossEntropy

LINK = TASKS.get("link")


@pytest.mark.parametrize("objective", ["gic", "bce"])
def test_held_out_edges_are_in_no_message_no_mask_and_no_positive(objective: str) -> None:
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


def test_positives_of_bce_are_the_training_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """With embeddings that tell only held-out pairs apart, the loss must not see them."""
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


def test_scores_are_of_the_held_out_pairs() -> None:
    """Embeddings that know the test edges alone score 1 there and about a half on validation."""
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


def test_scores_that_are_no_numbers_are_said_so() -> None:
    task = LINK.bind(load_graph("cora"), resolve({"task": "link"}), "cpu")
    with pytest.raises(DataError, match="lower learning_rate"):
        task.scores(torch.full((2708, 2), torch.nan), {SLOPE: torch.ones(1)})


def test_theta_0_of_the_encoder_is_the_same_for_both_objectives() -> None:
    graph = load_graph("cora")
    drawn = [
        Problem(resolve({"task": "link", "hidden": 4, "link_objective": name}), graph).initial_weights(0)
        for name in ("gic", "bce")
    ]
    assert set(drawn[0]) - set(drawn[1]) == {GRAPH_FORM, CLUSTER_FORM}
    assert all(np.array_equal(drawn[0][name], value) for name, value in drawn[1].items())
    assert drawn[0][SLOPE].tolist() == [0.25]


def test_the_split_is_the_same_for_all_methods_seeds_and_models() -> None:
    graphs = [
        message_graph(resolve({"task": "link", "method": method, "model": model}))
        for method in ("ugs", "random", "admm")
        for model in ("gcn", "gin", "gat")
    ]
    assert all(graph is graphs[0] for graph in graphs)
    other = message_graph(resolve({"task": "link", "split_seed": 1}))
    assert not np.array_equal(other.edges, graphs[0].edges)


def test_hyper_parameters_are_the_authors() -> None:
    config = resolve({"task": "link", "dataset": "pubmed", "model": "gat"}, "official")
    assert (config.learning_rate, config.weight_decay, config.dropout) == (1e-3, 0.0, 0.0)
    assert (config.gamma_graph, config.gamma_weight, config.epochs, config.retrain_epochs) == (1e-4, 1e-4, 200, 200)
    assert (config.options["gat_heads"], config.options["hidden_activation"]) == (1, "none")
    assert resolve({"task": "link", "link_objective": "bce"}).learning_rate == 1e-2
    assert resolve({"task": "link", "link_objective": "bce", "learning_rate": 1e-3}).learning_rate == 1e-3
    assert resolve({"task": "link", "model": "gat", "gat_heads": 4}).options["gat_heads"] == 4
    assert resolve({"model": "gat"}).options["gat_heads"] == 8


def test_hidden_activation_is_heeded() -> None:
    names = {"none", "relu"}
    graph = load_graph("cora")
    outputs = []
    for name in sorted(names):
        problem = Problem(resolve({"task": "link", "hidden": 4, "hidden_activation": name}), graph)
        weights = {key: torch.from_numpy(value) for key, value in problem.initial_weights(0).items()}
        operator = GraphOperator(problem.graph, problem.full_masks().edges)
        stem = problem.model.stem(operator, None, problem.features, weights, problem.config)
        outputs.append(problem.model.head(stem, weights, Dropout(0, None), problem.config))
    assert not torch.allclose(*outputs)


@pytest.mark.parametrize(
    ("changes", "values", "sentence"),
    [
        ({"edges": 19}, {}, "Cora has 19 edges, too few to hold some out for link prediction"),
        ({"tasks": ("node",)}, {}, "Data set 'cora' cannot be used for task 'link'; it can be for: node."),
        ({}, {"gic_clusters": 2709}, "gic_clusters cannot be 2709: Cora has 2708 nodes"),
        ({}, {"split_seed": -1}, "split_seed cannot be -1"),
        ({}, {"link_objective": "dgi"}, "link_objective cannot be 'dgi'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, Any], values: Mapping[str, Any], sentence: str
) -> None:
    registered = DATASETS.get
    monkeypatch.setattr(DATASETS, "get", lambda name: replace(registered(name), **changes))
    with pytest.raises(ConfigError, match=sentence):
        resolve({"task": "link", **values})


def test_more_clusters_than_nodes_do_not_matter_to_bce() -> None:
    assert resolve({"task": "link", "link_objective": "bce", "gic_clusters": 5000}).options["gic_clusters"] == 5000


def test_a_bundled_set_without_edges_to_spare_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, small_graph: Graph
) -> None:
    monkeypatch.setattr("glt.training.tasks.link.load_graph", lambda name: small_graph)
    with pytest.raises(DataError, match="small has too few edges to split"):
        resolve({"task": "link"})
