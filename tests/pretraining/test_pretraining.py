"""Pre-training: augmentations, GraphCL's loss, and runs that start from a pre-trained encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt.datasets import Graph, load_graph
from glt.datasets.graph import IntArray, Provenance, Split
from glt.datasets.link_split import split_links
from glt.errors import ConfigError, DataError, JobError
from glt.jobs import start
from glt.jobs.devices import Settings
from glt.jobs.environment import record_environment
from glt.lottery.initial_weights import check_start, source_of, starts_of
from glt.lottery.lottery import compute_rounds
from glt.presets import resolve
from glt.pretraining.augmentations import AUGMENTATIONS, View, new_edges, walked
from glt.pretraining.config import FIRST_LAYER, PretrainConfig, first_layer_width, resolve_pretraining
from glt.pretraining.graphcl import DISCRIMINATOR, ENCODER, SLOPE, GraphCL, drawn_views, pretrain, starting_tensors
from glt.seeds import stream
from glt.store import Pretraining, SeedRun, Store, run_name
from glt.training.problem import Problem
from glt.training.tasks import message_graph
from tests.conftest import Watcher

SHARE = 0.2


def make_graph(nodes: int, pairs: list[tuple[int, int]]) -> Graph:
    edges: IntArray = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    none = np.empty(0, dtype=np.int64)
    features = csr_array(np.eye(nodes, dtype=np.float32))
    return Graph("drawn", edges, features, np.zeros(nodes, dtype=np.int64), Split(none, none, none), HAND_MADE)


HAND_MADE = Provenance("by hand", 0, 0, 0)


def codes(graph: Graph, edges: IntArray) -> set[int]:
    return set((edges[0] * graph.num_nodes + edges[1]).tolist())


@pytest.fixture(scope="module")
def cora() -> Graph:
    return load_graph("cora")


AUGMENTED = ["edges", "features", "nodes", "subgraph"]


def view_of(name: str, graph: Graph, share: float = SHARE, seed: int = 0) -> View:
    return AUGMENTATIONS.get(name).view(graph, share, stream(seed, 0, "view"))


def test_augmented_views_are_simple_and_reproducible(cora: Graph) -> None:
    assert AUGMENTATIONS.names() == AUGMENTED
    for name in AUGMENTED:
        view, again, other = (vars(view_of(name, cora, seed=seed)) for seed in (3, 3, 4))
        low, high = view["edges"]
        assert (low < high).all()
        assert (np.diff(low * cora.num_nodes + high) > 0).all()
        assert all(np.array_equal(part, again[field]) for field, part in view.items())
        assert not all(np.array_equal(part, other[field]) for field, part in view.items())


def test_edge_augmentation_drops_and_adds_equally(cora: Graph) -> None:
    view = view_of("edges", cora)
    before, after = codes(cora, cora.edges), codes(cora, view.edges)
    assert len(after) == len(before) == view.edges.shape[1]
    assert len(before - after) == len(after - before) == cora.num_edges // 5
    assert view.members.all()
    assert view.visible.all()


@pytest.mark.parametrize("name", ["nodes", "subgraph"])
def test_node_augmentation_drops_nodes_with_their_edges(cora: Graph, name: str) -> None:
    view = view_of(name, cora)
    assert (~view.members).sum() == cora.num_nodes // 5
    assert codes(cora, view.edges) == codes(cora, cora.edges[:, view.members[cora.edges].all(axis=0)])
    assert view.visible.all()
    assert view_of(name, full(3), share=0.99).members.sum() == 1


def test_feature_augmentation_masks_features_only(cora: Graph) -> None:
    view = view_of("features", cora)
    assert (~view.visible).sum() == cora.num_nodes // 5
    assert view.members.all()
    np.testing.assert_array_equal(view.edges, cora.edges)


def test_subgraph_augmentation_exhausts_a_component_first() -> None:
    graph = make_graph(9, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)])
    for seed in range(20):
        reached = set(np.flatnonzero(walked(graph, 4, stream(seed, 0, "walk"))).tolist())
        whole = {0, 1, 2, 3} <= reached or {4, 5, 6, 7} <= reached
        assert whole or 8 in reached, reached
    assert walked(make_graph(5, []), 5, stream(0, 0, "walk")).all()


def test_every_non_edge_can_be_added() -> None:
    edges = [(0, 1), (0, 5), (1, 2), (3, 4), (4, 5)]
    added = new_edges(make_graph(6, edges), 10, stream(0, 0, "view"))
    assert set(map(tuple, added.T.tolist())) == {(i, j) for i in range(6) for j in range(i + 1, 6)} - {*edges}


def test_added_edges_are_uniform() -> None:
    graph = make_graph(4, [(0, 1), (2, 3)])
    drawn = [tuple(new_edges(graph, 1, stream(seed, 0, "view"))[:, 0].tolist()) for seed in range(400)]
    assert {pair: drawn.count(pair) > 60 for pair in set(drawn)} == dict.fromkeys(
        [(0, 2), (0, 3), (1, 2), (1, 3)], True
    )


def full(nodes: int) -> Graph:
    return make_graph(nodes, [(i, j) for i in range(nodes) for j in range(i + 1, nodes)])


@pytest.mark.parametrize(
    ("name", "graph", "words"),
    [
        ("edges", lambda: make_graph(5, []), "of 0 edges rounds down to 0"),
        ("edges", lambda: full(6), "only 0 pairs of nodes without an edge"),
        ("nodes", lambda: make_graph(4, []), "of 4 nodes rounds down to 0"),
        ("features", lambda: make_graph(2, [(0, 1)]), "of 2 nodes rounds down to 0"),
        ("subgraph", lambda: make_graph(1, []), "of 1 nodes rounds down to 0"),
    ],
)
def test_too_small_a_graph_is_one_sentence(name: str, graph: Callable[[], Graph], words: str) -> None:
    with pytest.raises(DataError, match=words):
        view_of(name, graph())


SMALL = {"hidden": 8, "epochs": 6}


def hand_sized() -> Graph:
    generator = np.random.default_rng(0)
    graph = make_graph(8, [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)])
    features = csr_array((generator.random((8, 5)) * (generator.random((8, 5)) < 0.6)).astype(np.float32))
    return replace(graph, features=features)


def objective(graph: Graph, first: str, second: str) -> tuple[GraphCL, tuple[View, View]]:
    views = (view_of(first, graph, 0.3, seed=0), view_of(second, graph, 0.3, seed=1))
    start = starting_tensors(graph.num_features, 3, stream(1, 0, "init"))
    return GraphCL(graph, views, start, dtype=torch.float64), views


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


@pytest.mark.parametrize("name", AUGMENTED)
def test_contrastive_loss_equals_a_dense_formulation(name: str) -> None:
    graph = hand_sized()
    (model, views), order = objective(graph, name, name), np.random.default_rng(2).permutation(8)
    loss = float(model.loss(torch.from_numpy(order)).detach())
    # Features are normalised in single precision.
    assert loss == pytest.approx(dense_loss(graph, views, model, order), abs=1e-7)


def test_contrastive_gradient_equals_finite_differences() -> None:
    model, _ = objective(hand_sized(), "nodes", "features")
    order, names = torch.from_numpy(np.random.default_rng(2).permutation(8)), list(model.tensors)

    def loss(*values: torch.Tensor) -> torch.Tensor:
        model.tensors = dict(zip(names, values, strict=True))
        return model.loss(order)

    assert torch.autograd.gradcheck(loss, tuple(model.tensors.values()))


def test_pretraining_is_reproducible(cora: Graph) -> None:
    config = PretrainConfig(**SMALL, augmentation="nodes")
    first, again, other = (pretrain(cora, config, seed, lambda *_: None) for seed in (0, 0, 1))
    assert first.weight.tobytes() == again.weight.tobytes()
    assert first.loss == again.loss
    assert first.weight.tobytes() != other.weight.tobytes()
    assert first.weight.shape == (1433, 8)
    one, two = drawn_views(cora, config, 0)
    assert not np.array_equal(one.members, two.members)
    # The encoder starts where a random run of the seed does.
    theta0 = Problem(resolve({"hidden": 8}), cora).initial_weights(5)
    np.testing.assert_array_equal(starting_tensors(1433, 8, stream(5, 0, "init"))[ENCODER], theta0[ENCODER])


@pytest.mark.parametrize(
    ("settings", "ends"),
    [
        ({"hidden": 16, "epochs": 60, "learning_rate": 0.01}, "after its epochs"),
        ({"hidden": 4, "epochs": 500, "learning_rate": 3.0, "patience": 2}, "by patience"),
    ],
)
def test_pretraining_keeps_the_lowest_loss_and_stops_early(cora: Graph, settings: dict[str, float], ends: str) -> None:
    losses: list[float] = []
    config = PretrainConfig(**settings)
    result = pretrain(cora, config, 0, lambda _, loss: losses.append(loss))
    assert losses[0] == pytest.approx(np.log(2), abs=0.01)
    assert result.loss == min(losses)
    assert result.best_epoch == losses.index(min(losses))
    assert result.epochs == len(losses)
    if ends == "by patience":
        assert result.epochs == result.best_epoch + 3 < 500
    else:
        assert result.loss < 0.6


def test_a_loss_of_nan_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GraphCL, "loss", lambda *_: torch.tensor(float("nan"), requires_grad=True))
    with pytest.raises(DataError, match="loss is nan in epoch 0: lower learning_rate"):
        pretrain(load_graph("cora"), PretrainConfig(**SMALL), 0, lambda *_: None)


TINY = {"hidden": 4, "rounds": 1, "epochs": 2, "retrain_epochs": 2}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def pretrained(store: Store, seeds: tuple[int, ...] = (0,), **settings: Any) -> Pretraining:
    """Write a pre-training whose first layers are drawn, not trained."""
    config = resolve_pretraining({"hidden": 4, **settings})
    run = store.create_pretraining(config)
    graph = message_graph(config.graph_config())
    for seed in seeds:
        weight = np.random.default_rng(seed).normal(size=(graph.num_features, config.hidden)).astype(np.float32)
        run.seed(seed).make()
        about = {"best_epoch": 0, "epochs": 1, "loss": 0.1, "graph": graph.content_hash}
        run.seed(seed).write_first_layer(weight, about)
    return run


def seed_from(store: Store, pretraining: Pretraining, seed: int, **settings: Any) -> SeedRun:
    seed_run = store.create(resolve({**TINY, "pretraining": pretraining.name, **settings})).seed(seed)
    seed_run.make()
    return seed_run


@pytest.mark.parametrize(
    "settings", [{}, {"model": "gin"}, {"model": "gat", "gat_heads": 2, "hidden": 2}], ids=["gcn", "gin", "gat"]
)
def test_theta0_is_the_pretrained_first_layer_and_random_others(
    store: Store, cora: Graph, settings: dict[str, Any]
) -> None:
    pretraining = pretrained(store, (0, 3))
    seed_run = seed_from(store, pretraining, 3, **settings)
    assert first_layer_width(seed_run.config) == 4
    compute_rounds(seed_run, Watcher())
    theta0, own = seed_run.theta0(), Problem(seed_run.config, cora).initial_weights(3)
    assert not np.array_equal(theta0[FIRST_LAYER], own[FIRST_LAYER])
    assert set(theta0) == set(own)
    for name, value in {**own, FIRST_LAYER: pretraining.seed(3).first_layer().weight}.items():
        np.testing.assert_array_equal(theta0[name], value)
    assert len(seed_run.rounds()) == 2


def test_a_seed_uses_its_own_pretraining_else_the_first(store: Store) -> None:
    pretraining = pretrained(store, (1, 4))
    config = resolve({**TINY, "pretraining": pretraining.name})
    assert check_start(store, config, [0, 1, 4, 7]) == {0: 1, 1: 1, 4: 4, 7: 1}
    assert check_start(store, resolve(TINY), [0]) == {}
    assert "pretraining" not in resolve(TINY).options
    assert run_name(resolve(TINY)) != run_name(config)


def test_a_begun_seed_keeps_its_recorded_pretraining(store: Store) -> None:
    pretraining = pretrained(store, (1,))
    seed_run = seed_from(store, pretraining, 0)
    source = source_of(seed_run)
    assert source is not None
    record_environment(seed_run, Settings(), "a" * 64, source)
    pretrained(store, (0, 1))
    again = source_of(seed_run)
    assert again is not None
    assert again.record() == source.record() == seed_run.environment()["pretraining"]
    assert starts_of(store.find(seed_run.path.parent.name), [0]) == {0: 1}
    record_environment(seed_run, Settings(), "a" * 64, again)


def test_a_changed_pretraining_and_another_graph_are_refused(store: Store) -> None:
    pretraining = pretrained(store)
    seed_run, written = seed_from(store, pretraining, 0), pretraining.seed(0)
    record_environment(seed_run, Settings(), "a" * 64, source_of(seed_run))
    layer, about = written.first_layer(), {"best_epoch": 0, "epochs": 1, "loss": 0.1}
    written.write_first_layer(layer.weight + 1, {**about, "graph": layer.graph_hash})
    with pytest.raises(JobError, match=r"has changed since seed 0 of .* began \(content hash \w{8}, then \w{8}\)"):
        record_environment(seed_run, Settings(), "a" * 64, source_of(seed_run))
    written.write_first_layer(layer.weight, {**about, "graph": "b" * 64})
    with pytest.raises(DataError, match="pre-trained on a different graph"):
        compute_rounds(seed_from(store, pretraining, 0, epochs=3), Watcher())


@pytest.mark.parametrize(
    ("pretraining", "run", "sentence"),
    [
        ({"dataset": "citeseer"}, {}, "was pre-trained on citeseer, this run uses cora: run `.*pretrain"),
        ({"hidden": 8}, {}, "has width 8, but the first layer of gcn with hidden = 4 has 4: run"),
        ({}, {"model": "gat"}, "has width 4, but the first layer of gat with hidden = 4 has 32: .*--hidden 32"),
        ({}, {"model": "resgcn"}, "The first layer of resgcn does not multiply the features, so it cannot start from"),
        ({"task": "link"}, {}, "was pre-trained for task 'link', which uses other edges than task 'node'"),
        ({}, {"task": "link"}, "was pre-trained for task 'node', which uses other edges than task 'link'"),
        (
            {"task": "link", "split_seed": 1},
            {"task": "link"},
            r"was trained on edges that this run holds out \(split_seed 1 instead of 0\)",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    store: Store, pretraining: dict[str, Any], run: dict[str, Any], sentence: str
) -> None:
    name = pretrained(store, **pretraining).name
    config = resolve({**TINY, **run, "pretraining": name})
    with pytest.raises(ConfigError, match=sentence):
        start(store, config, [0])
    assert store.runs() == []


def test_unknown_unfinished_or_wrong_pretrainings_are_refused(store: Store) -> None:
    name = store.create_pretraining(resolve_pretraining({"hidden": 4})).name
    other = store.create(resolve(TINY)).name
    cases = {
        name: f"{name} is not finished: run `",
        name[:-1]: f"pretraining cannot be '{name[:-1]}': No run '{name[:-1]}' .* did you mean {name}",
        other: "is not a pre-training run",
        str(store.root / name): "pretraining cannot be the path",
    }
    for given, sentence in cases.items():
        with pytest.raises(ConfigError, match=sentence):
            start(store, resolve({**TINY, "pretraining": given}), [0])


def test_pretraining_sees_no_held_out_edges(cora: Graph) -> None:
    config = resolve_pretraining({"task": "link", "split_seed": 2})
    seen = codes(cora, message_graph(config.graph_config()).edges)
    split = split_links(cora, 2)
    held_out = codes(cora, np.sort(np.concatenate([split.val, split.test], axis=1), axis=0))
    assert held_out
    assert not seen & held_out
    assert len(seen) + len(held_out) == cora.num_edges


def test_the_pretraining_config_is_plain_json(store: Store) -> None:
    run = pretrained(store)
    document = json.loads((run.path / "config.json").read_text())
    assert document["kind"] == "pre-training"
    assert document["config"]["augmentation"] == "edges"
