"""WD-GLT: the distance in the loss, the course of the edge masks, exact counts, resuming, causes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from glt.config import RunConfig
from glt.datasets import load_graph
from glt.datasets.graph import Graph
from glt.errors import ConfigError
from glt.jobs import start
from glt.lottery.lottery import Stopped
from glt.masks import EdgeMask, remaining_after
from glt.methods import METHODS
from glt.methods.wd_glt import ClassDistance, WDGLTOptions
from glt.presets import resolve
from glt.removal_causes import had_gradient
from glt.seeds import stream
from glt.sparse import Dropout
from glt.store import Store
from glt.training.network import Network, SoftMasks
from glt.training.optimal_transport import transport_cost
from glt.training.problem import Problem
from glt.training.trainer import Schedule, Stage
from tests.conftest import Compute, Watcher

CORA_ENTRIES, WEIGHTS = 2 * 5278, 1433 * 16 + 16 * 7
FAST = {"method": "wd_glt", "wd_nodes": 40, "wd_iterations": 3, "epochs": 3, "retrain_epochs": 3}


def rule(nodes: int = 6, **options: Any) -> ClassDistance:
    return ClassDistance(WDGLTOptions(**options), nodes)


def test_distance_is_the_sum_over_predicted_classes() -> None:
    """Class 2 is predicted for nobody, so it has no term; the rest of a class is every other node."""
    output = torch.tensor([[2.0, 0, 0], [1, 0, 0], [0, 3, 0], [0, 1, 0], [0, 2, 0], [1, 2, 0]])
    rows, first = output.softmax(1), torch.tensor([True, True, False, False, False, False])
    expected = transport_cost(rows[first], rows[~first], 1e-3, 10) + transport_cost(rows[~first], rows[first], 1e-3, 10)
    found = rule().distance(output, np.random.default_rng(0))
    assert found is not None
    assert float(found) == pytest.approx(float(expected))
    assert rule().distance(output[:2], np.random.default_rng(0)) is None


def test_larger_graphs_compare_a_seeded_draw() -> None:
    output = torch.randn(300, 3, generator=torch.Generator().manual_seed(0))
    every = rule(300).distance(output, np.random.default_rng(0))
    assert every is not None
    for options, nodes in (({"wd_nodes": 20}, 300), ({}, 5001)):
        some = [rule(nodes, **options).distance(output, np.random.default_rng(seed)) for seed in (0, 0, 1)]
        few = nodes == 300
        assert some[0] == some[1]
        assert ((some[0] != some[2]), (some[0] != every)) == (few, few)
    assert rule(5001, wd_nodes=0).distance(output, np.random.default_rng(0)) == every


@pytest.mark.parametrize("course", ["ascend", "descend"])
def test_edge_masks_follow_the_gradient_of_the_whole_loss(small_graph: Graph, course: str) -> None:
    """One step of Adam moves each mask by its step size against the gradient, or along it; others always descend."""
    problem = Problem(resolve({"hidden": 4, "dropout": 0.0}), small_graph)
    masks = problem.full_masks()

    def fresh() -> Network:
        soft = SoftMasks.around_one(masks, 0.0, stream(0, 1, "masks"), "cpu")
        return Network(problem, masks, problem.initial_weights(3), soft)

    own, network = rule(wd_edge_masks=course, wd_weight=0.5, wd_regularisation=0.1), fresh()
    weights = network.effective_weights()
    step = network.step(network.stem(weights), weights, Dropout(0, None), np.random.default_rng(0))
    distance = own.distance(step.output, np.random.default_rng(0))
    assert distance is not None
    (problem.task.loss(step) - 0.5 * distance).backward()
    named = network.trainable()
    gradients = {name: tensor.grad.numpy().copy() for name, tensor in named.items() if tensor.grad is not None}
    before = {name: tensor.detach().numpy().copy() for name, tensor in named.items()}
    after = Stage(fresh(), Schedule(1, 0.01, 0.0, 0.01, rule=own), stream(0, 1, "search")).run(lambda result: None)
    for name, gradient in gradients.items():
        sign = 1 if name == "mask/edges" and course == "ascend" else -1
        expected = before[name] + sign * 0.01 * np.sign(gradient)
        if name == "mask/edges" and course == "descend":
            expected = expected.clip(0, 1)
        clear = np.abs(gradient) > 1e-5
        assert clear.any()
        np.testing.assert_allclose(after.last_tensors[name][clear], expected[clear], atol=1e-4)


@pytest.mark.parametrize("course", ["ascend", "descend"])
@pytest.mark.parametrize("edge_mask", ["directed", "undirected"])
def test_rounds_are_nested_and_exact(compute: Compute, course: str, edge_mask: str) -> None:
    run = compute(**FAST, wd_edge_masks=course, edge_mask=edge_mask)
    entries = CORA_ENTRIES if edge_mask == "directed" else CORA_ENTRIES // 2
    for k in (1, 2):
        masks = run.masks(k)
        assert masks.edges.kept == remaining_after(0.05, entries, k)
        assert masks.weights.kept == remaining_after(0.2, WEIGHTS, k)
        assert masks.within(run.masks(k - 1))
    scores = run.edge_scores(1)
    assert scores is not None
    assert scores.size == entries


def test_without_the_distance_ascent_differs_from_ugs(compute: Compute) -> None:
    """With lambda 0 and descent only the step size and the bounds of the masks differ from UGS: not round 0."""
    settings = {**FAST, "rounds": 1, "wd_weight": 0.0}
    ugs = compute(store="ugs", method="ugs", epochs=3, retrain_epochs=3, rounds=1)
    ascent = compute(store="up", **settings)
    assert ascent.rounds()[0].model_dump(exclude={"seconds"}) == ugs.rounds()[0].model_dump(exclude={"seconds"})
    assert not np.array_equal(ascent.masks(1).edges.keep, ugs.masks(1).edges.keep)


@pytest.mark.parametrize("half", ["p_graph", "p_weight"])
def test_a_rate_of_zero_keeps_a_half_whole(compute: Compute, half: str) -> None:
    masks = compute(**FAST, rounds=1, **{half: 0}).masks(1)
    assert masks.edges.keep.all() == (half == "p_graph")
    assert (masks.weights.kept == WEIGHTS) == (half == "p_weight")


@pytest.mark.parametrize("stop", [4, 6])
def test_resuming_in_the_search_repeats_the_draws(compute: Compute, stop: int) -> None:
    whole = compute(store="whole", **FAST, rounds=1)
    with pytest.raises(Stopped):
        compute(store="cut", observer=Watcher(stop), **FAST, rounds=1)
    resumed = compute(store="cut", **FAST, rounds=1)
    assert (resumed.path / "events.jsonl").read_bytes() == (whole.path / "events.jsonl").read_bytes()
    assert np.array_equal(resumed.masks(1).edges.keep, whole.masks(1).edges.keep)


def test_every_entry_between_outputs_has_a_gradient() -> None:
    """The distance reads all outputs, so an entry far from labelled nodes has a gradient, unlike in UGS."""
    graph = load_graph("cora")
    full = EdgeMask.full("directed", graph.num_edges)
    pruned = full.prune(np.random.default_rng(0).random(full.kept), 0.8)
    shares = {}
    for method in ("ugs", "wd_glt"):
        found = had_gradient(resolve({"method": method}), graph, pruned)
        assert found is not None
        shares[method] = found.sum() / pruned.kept
    assert shares["ugs"] < 0.9 < shares["wd_glt"]


def test_outputs_without_classes_are_refused(tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match="WD-GLT compares predicted classes"):
        start(Store(tmp_path), resolve({"method": "wd_glt", "task": "link"}), [0])


def test_published_settings_are_reached_by_the_preset() -> None:
    config = resolve({"method": "wd_glt"}, "published")
    assert (config.p_graph, config.p_weight, config.options["wd_edge_masks"]) == (0.05, 0.2, "ascend")
    assert METHODS.get("wd_glt").nests(RunConfig())
