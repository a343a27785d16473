"""Networks that prune during a search; full-graph, receptive-field and cluster passes agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.datasets import Graph, load_graph
from glt.errors import ConfigError
from glt.masks import EdgeMask, Masks, WeightMask
from glt.methods.ugs import KINDS
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import Dropout, GraphOperator, features_of
from glt.training.batching import (
    ClusterBatch,
    FieldBatch,
    FullBatch,
    Passes,
    evaluation_parts,
    forward,
    partition,
    passes_of,
)
from glt.training.network import Narrowing, Network, SoftMasks, Survivors
from glt.training.problem import Mismatch, Problem
from glt.training.trainer import EpochResult, Schedule, Stage
from tests.training.conftest import pruned

EPOCHS = 7


@pytest.fixture
def survivors() -> Survivors:
    """Of six edge entries the second is not up for decision; one tensor of four weights."""
    edges = EdgeMask("directed", np.array([1, 0, 1, 1, 1, 1]))
    return Survivors(Masks(edges, WeightMask({"w": np.ones((2, 2), dtype=np.bool_)})), "cpu")


def test_lowest_magnitudes_are_pruned_first_with_ties_by_index(survivors: Survivors) -> None:
    soft = SoftMasks(torch.tensor([-0.5, 0.2, -0.1, 0.2, 0.9]), {"w": torch.tensor([[0.3, -0.1], [0.1, 0.2]])})
    survivors.narrow(soft, 3, 3)
    assert survivors.masks().edges.keep.tolist() == [True, False, False, False, True, True]
    assert survivors.masks().weights.keep["w"].tolist() == [[True, False], [True, True]]
    survivors.narrow(SoftMasks(torch.tensor([0.5, 9.0, 9.0, 0.2, 0.9]), {"w": torch.full((2, 2), 9.0)}), 2, 2)
    assert survivors.edges.tolist() == [True, False, False, False, True]
    assert survivors.weights["w"].tolist() == [[False, False], [True, True]]


def test_a_search_resumes_from_its_state(survivors: Survivors) -> None:
    first = SoftMasks(torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5]), {"w": torch.arange(4.0).reshape(2, 2)})
    survivors.narrow(first, 4, 3)
    other = Survivors(survivors._start, "cpu")
    other.restore(survivors.state())
    survivors.restore(survivors.state())
    assert other.masks().within(survivors.masks())
    assert survivors.masks().within(other.masks())
    with pytest.raises(Mismatch, match="edges"):
        other.restore({"edges": np.ones(4, dtype=np.bool_), "w": np.ones((2, 2), dtype=np.bool_)})


def test_the_pruning_course_falls_to_its_exact_end() -> None:
    course = [Narrowing((10_556, 5_000), (917, 3)).after(epoch, 200) for epoch in range(1, 201)]
    assert course[-1] == (5_000, 3)
    steps = -np.diff(np.array([(10_556, 917), *course]), axis=0)
    assert (steps >= 0).all()
    assert (steps.max(axis=0) - steps.min(axis=0) <= 1).all()


@pytest.fixture(params=["gcn", "gin", "gat", "resgcn", "resgcn in clusters"])
def problem(request: pytest.FixtureRequest, small_graph: Graph) -> Problem:
    model, *clusters = request.param.split(" in ")
    settings = {"batch_clusters": 2} if clusters else {}
    config = resolve({"model": model, "hidden": 3, "schedule": "one_run", "dropout": 0.2, **settings})
    return Problem(config, small_graph)


def search(problem: Problem) -> tuple[Network, Schedule]:
    full = problem.full_masks()
    soft = SoftMasks.around_one(full, 1e-2, stream(0, 1, "s"), "cpu")
    network = Network(problem, full, problem.initial_weights(0), soft)
    network.alive = Survivors(full, "cpu")
    narrowing = Narrowing((full.edges.kept, 3), (full.weights.kept, full.weights.kept // 2))
    return network, Schedule(EPOCHS, 0.05, 5e-4, 0.05, 5e-4, 0.1, 0.1, narrowing)


@pytest.mark.parametrize("kind", ["edges", "weights"])
def test_a_kind_without_soft_masks_has_binary_ones(problem: Problem, kind: str) -> None:
    """Losses and gradients are those of soft masks of exactly one."""
    full = problem.full_masks()
    scores = {name: np.random.default_rng(0).random(keep.shape) for name, keep in full.weights.keep.items()}
    masks = Masks(full.edges, full.weights.prune(scores, 0.4))
    of_kind, both = (SoftMasks.around_one(masks, 0.2, stream(0, 1, "s"), "cpu", kinds) for kinds in ([kind], KINDS))
    assert set(of_kind.named()) == ({"edges"} if kind == "edges" else set(full.weights.keep))
    with torch.no_grad():
        for name, values in both.named().items():
            if name in of_kind.named():
                assert torch.equal(values, of_kind.named()[name])
            else:
                keep = torch.from_numpy(masks.weights.keep[name]) if name != "edges" else torch.ones_like(values)
                values.copy_(keep)
    outputs = []
    for soft in (of_kind, both):
        network = Network(problem, masks, problem.initial_weights(0), soft)
        found = output(network)
        found.square().sum().backward()
        network.add_penalty_gradient(0.1, 0.1)
        outputs.append((found.detach(), {name: network.soft.named()[name].grad for name in of_kind.named()}))
        assert network.shares_at_zero().keys() == ({kind} if soft is of_kind else set(KINDS))
    torch.testing.assert_close(outputs[0], outputs[1])


def test_counts_are_exact_at_every_epoch_and_masks_are_nested_within_the_search(problem: Problem) -> None:
    network, schedule = search(problem)
    assert schedule.narrowing is not None
    assert network.alive is not None
    alive, seen = network.alive, [problem.full_masks()]

    def on_epoch(result: EpochResult) -> None:
        masks = alive.masks()
        assert schedule.narrowing is not None
        assert (masks.edges.kept, masks.weights.kept) == schedule.narrowing.after(result.epoch + 1, EPOCHS)
        assert masks.within(seen[-1])
        seen.append(masks)

    Stage(network, schedule, stream(0, 1, "search")).run(on_epoch)
    assert len(seen) == EPOCHS + 1
    assert seen[-1].edges.kept == 3


def test_pruned_values_equal_a_smaller_network(problem: Problem) -> None:
    """After a search, outputs are those of the smaller network under the soft values left; the rest has no gradient."""
    network, schedule = search(problem)
    seen: list[EpochResult] = []
    result = Stage(network, schedule, stream(0, 1, "search")).run(seen.append)
    assert network.alive is not None
    assert network.soft is not None
    masks = network.alive.masks()
    left = {name: torch.from_numpy(keep) for name, keep in masks.weights.keep.items()}
    soft = SoftMasks(
        network.soft.edges.detach()[network.alive.edges],
        {name: values.detach() * left[name] for name, values in network.soft.weights.items()},
    )
    smaller = Network(problem, masks, {name: value.detach().numpy() for name, value in network.theta.items()}, soft)
    assert smaller.operator.num_values == 3 < network.operator.num_values
    torch.testing.assert_close(output(network), output(smaller))
    with torch.no_grad():
        scores = problem.task.scores(output(network), network.effective_weights())
    assert scores == seen[-1].scores == result.last

    for values in network.soft.named().values():
        values.grad = None
    output(network).square().sum().backward()
    alive = (network.alive.edges, *network.alive.weights.values())
    for penalty in (0.0, 0.1):
        network.add_penalty_gradient(penalty, penalty)
        for values, kept in zip(network.soft.named().values(), alive, strict=True):
            assert values.grad is not None
            assert not values.grad[~kept].any()
            assert penalty == 0 or values.grad[kept].all()


def output(network: Network) -> torch.Tensor:
    weights = network.effective_weights()
    return network.head(network.stem(weights), weights, Dropout(0, None))


SMALL = {"dataset": "cora", "hidden": 8, "epochs": 5, "retrain_epochs": 5}
VALUES = {"model": "resgcn", "hidden": 4, "layers": 3, "dropout": 0.5, "gen_norm": "layer"}


def network_of(problem: Problem, soft: bool) -> Network:
    masks = pruned(problem)
    start = SoftMasks.around_one(masks, 0.3, stream(0, 1, "start"), "cpu") if soft else None
    return Network(problem, masks, problem.initial_weights(0), start)


def on_fields(network: Network) -> FieldBatch:
    """Passes on fields of any size."""
    reads, depth = network.problem.task.reads(), network.problem.model.messages(network.problem.config)
    assert reads is not None
    assert depth is not None
    return FieldBatch(network, reads, depth)


def one_epoch(passes: Passes, network: Network) -> tuple[float, dict[str, Tensor]]:
    """Return the loss and the gradient of every tensor in an epoch without a step."""
    generator = stream(0, 1, "x")
    for tensor in network.trainable().values():
        tensor.grad = None
    loss = passes.epoch(
        Dropout(network.problem.config.dropout, generator), generator, lambda loss, step: loss.backward()
    )
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
def test_an_epoch_on_receptive_fields_equals_the_whole_graph(settings: dict[str, Any], soft: bool) -> None:
    problem = Problem(resolve({**SMALL, **settings}), load_graph("cora"))
    network = network_of(problem, soft)
    whole, field = FullBatch(network), on_fields(network)
    assert field.evaluate() == whole.evaluate()
    (loss, expected), (found_loss, found) = one_epoch(whole, network), one_epoch(field, network)
    assert found_loss == pytest.approx(loss, rel=1e-5)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-3, atol=1e-6)


def test_entries_outside_the_receptive_field_have_no_gradient() -> None:
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


def test_receptive_fields_are_used_only_when_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def passes(**settings: Any) -> Passes:
        problem = Problem(resolve({**SMALL, **settings}), load_graph("cora"))
        return passes_of(Network(problem, problem.full_masks(), problem.initial_weights(0)))

    assert isinstance(passes(), FieldBatch)
    assert isinstance(passes(layers=6), FullBatch)
    assert isinstance(passes(task="link"), FullBatch)
    assert isinstance(passes(model="resgcn", layers=2), FullBatch)
    assert isinstance(passes(model="resgcn", layers=2, batch_clusters=3), ClusterBatch)
    assert isinstance(passes(model="gin", gin_read_out="jumping"), FullBatch)
    problem = Problem(resolve(SMALL), load_graph("cora"))
    monkeypatch.setattr(problem.task, "reads", lambda: (np.empty(0, dtype=np.int64), np.arange(5)))
    assert isinstance(passes_of(network_of(problem, soft=False)), FullBatch)


def test_the_first_step_of_a_stage_uses_the_same_product_as_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a stage resumed from a checkpoint would compute other bits than one that was never stopped."""
    problem = Problem(resolve(SMALL), load_graph("cora"))
    network = network_of(problem, soft=True)
    passes = on_fields(network)
    monkeypatch.setattr(passes._trained.features._rows, "tensor", None)
    one_epoch(passes, network)
    passes.evaluate()
    one_epoch(passes, network)


def problem_of(graph: Graph, **values: object) -> Problem:
    return Problem(resolve({**VALUES, **values}), graph)


def test_a_partition_holds_every_node_once() -> None:
    parts = partition(11, 3, np.random.default_rng(0))
    assert sorted(np.concatenate(parts)) == list(range(11))
    assert [part.size for part in parts] == [4, 4, 3]
    assert all((np.diff(part) > 0).all() for part in parts)
    assert len(partition(2, 5, np.random.default_rng(0))) == 2
    with pytest.raises(ConfigError, match="batch_clusters"):
        resolve({"model": "resgcn", "task": "link", "batch_clusters": 3})


@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_a_cluster_batch_has_the_entries_inside_the_cluster(small_graph: Graph, kind: str) -> None:
    mask = EdgeMask(kind, np.arange(10 if kind == "directed" else 5) != 2)  # type: ignore[arg-type]
    whole = GraphOperator(small_graph, mask, dtype=torch.float64)
    values = torch.arange(1.0, mask.kept + 1, dtype=torch.float64)
    full = whole.structure.matrix(whole.entry_values(values)).to_dense()
    clusters = [np.array([0, 2, 4]), np.array([1, 3, 5])]
    parts = list(whole.parts(clusters))
    for nodes, part in zip(clusters, parts, strict=True):
        assert part.nodes.tolist() == nodes.tolist()
        found = part.structure.matrix(part.entry_values(values)).to_dense()
        torch.testing.assert_close(found, full[nodes][:, nodes])
        inside = full[nodes][:, nodes].fill_diagonal_(0)
        assert set(values[part.value_numbers()].tolist()) == set(inside[inside > 0].tolist())


def test_cluster_evaluation_equals_the_graph_without_edges_between_clusters(small_graph: Graph) -> None:
    drawn = np.random.default_rng(2).random((small_graph.num_edges, 2), dtype=np.float32)
    graph = replace(small_graph, edge_features=drawn)
    problem = problem_of(graph, batch_clusters=3, batch_clusters_eval=2)
    clusters = evaluation_parts(problem.config, graph.num_nodes)
    assert clusters is not None
    cluster = np.zeros(6, dtype=int)
    cluster[clusters[1]] = 1
    inside = EdgeMask("undirected", cluster[graph.edges[0]] == cluster[graph.edges[1]])
    assert 0 < inside.kept < graph.num_edges
    weights = {name: torch.from_numpy(value) for name, value in problem.initial_weights(0).items()}
    features = features_of(graph)
    found = forward(problem.config, GraphOperator(graph, EdgeMask.full("directed", 5)), features, weights)
    whole = problem_of(graph).config
    torch.testing.assert_close(found, forward(whole, GraphOperator(graph, inside), features, weights))
    assert evaluation_parts(whole, 6) is None


@pytest.mark.parametrize("masks", ["fresh", "persistent"])
def test_every_cluster_trains_soft_edge_masks_reproducibly(small_graph: Graph, masks: str) -> None:
    """Six clusters for three training nodes: some train nothing, and losses stay finite."""
    losses = []
    for _ in range(2):
        options = {"batch_clusters": 6, "batch_clusters_eval": 2, "cluster_masks": masks, "cluster_steps": 2}
        problem, results = problem_of(small_graph, **options), list[EpochResult]()
        full = problem.full_masks()
        soft = SoftMasks.around_one(full, 0.0, np.random.default_rng(0), "cpu")
        network = Network(problem, full, problem.initial_weights(0), soft)
        Stage(network, Schedule(3, 0.1, 5e-4, 0.1, 5e-4), stream(0, 1, "search")).run(results.append)
        losses.append([result.loss for result in results])
        assert len(results) == 3
        assert (soft.edges.detach() != 1).any()
    assert losses[0] == losses[1]
    assert np.isfinite(losses).all()


def test_restarted_edge_masks_equal_their_start(small_graph: Graph) -> None:
    problem = problem_of(small_graph, batch_clusters=2, cluster_masks="fresh")
    masks = problem.full_masks()
    soft = SoftMasks.around_one(masks, 0.5, np.random.default_rng(0), "cpu")
    began = soft.edges.detach().clone()
    network = Network(problem, masks, problem.initial_weights(0), soft)
    with torch.no_grad():
        soft.edges.add_(1)
    network.restart_edges(torch.tensor([1, 4]))
    torch.testing.assert_close(soft.edges.detach()[[1, 4]], began[[1, 4]])
    torch.testing.assert_close(soft.edges.detach()[[0, 2]], began[[0, 2]] + 1)


def test_a_cluster_batch_accepts_shuffled_features(small_graph: Graph) -> None:
    """As objectives that contrast real with shuffled nodes need it."""
    problem = problem_of(small_graph, dropout=0.0)
    network = Network(problem, problem.full_masks(), problem.initial_weights(0))
    weights = network.effective_weights()
    (part,) = network.operator.parts([np.array([0, 2, 3])])
    view = network.part(part)
    step = network.step(network.stem(weights, view), weights, Dropout(0, None), stream(0, 0, "x"), view=view)
    assert step.nodes is not None
    assert step.nodes.tolist() == [0, 2, 3]
    torch.testing.assert_close(step.shuffled(torch.tensor([0, 1, 2])), step.output)
    reordered = network.problem.features.of_nodes(torch.tensor([3, 2, 0]))
    expected = problem.model.stem(part, None, reordered, weights, problem.config)
    found = step.shuffled(torch.tensor([2, 1, 0]))
    torch.testing.assert_close(found, problem.model.head(expected, weights, Dropout(0, None), problem.config))
    assert not torch.allclose(found, step.output)
