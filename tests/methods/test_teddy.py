"""TEDDY: counts, edges by score, the projected and distilled retraining against dense matrices, and its switches."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glt.config import RunConfig
from glt.datasets import load_graph
from glt.datasets.graph import Graph
from glt.errors import ConfigError
from glt.lottery.audit import audit
from glt.lottery.lottery import Stopped
from glt.masks import Masks
from glt.methods import METHODS
from glt.methods.score import SCORE_DRAWS
from glt.presets import resolve
from glt.scores import SCORES, Structure
from glt.seeds import stream
from glt.store import SeedRun
from glt.ticket_file.io import read_ticket, ticket_bytes
from glt.ticket_file.ticket import make_ticket
from glt.ticket_file.verify import contradictions
from glt.training.network import Network
from glt.training.problem import Problem
from glt.training.retrain_rule import RetrainRule, dense_logits
from glt.training.trainer import Schedule, Stage
from tests.conftest import Compute, Watcher

TEDDY = METHODS.get("teddy")
RATES = {"p_graph": 0.05, "p_weight": 0.1}
WEIGHTS = 1433 * 16 + 16 * 7


def removed_after(rate: float, round_: int, total: int) -> Fraction:
    return (1 - (1 - Fraction(str(rate))) ** round_) * total


@pytest.mark.parametrize("edge_mask", ["directed", "undirected"])
@pytest.mark.parametrize("score", ["teddy", "random"])
def test_edges_go_by_score_to_the_published_counts_and_rounds_are_nested(
    compute: Compute, edge_mask: str, score: str
) -> None:
    run = compute(method="teddy", edge_mask=edge_mask, score=score, **RATES)
    graph = load_graph("cora")
    scores = SCORES.get(score).of(Structure.of(graph), stream(0, 0, SCORE_DRAWS))
    entries = graph.num_edges * (2 if edge_mask == "directed" else 1)
    for number in (1, 2):
        edges = run.masks(number).edges
        assert entries - edges.kept == int(removed_after(0.05, number, entries))
        assert edges.within(run.masks(number - 1).edges)
        kept = edges.either_way()
        assert scores[~kept].max() <= scores[kept].min()
        assert (kept & ~edges.both_ways()).sum() <= 1


@pytest.mark.parametrize("projection", [True, False])
def test_weights_have_the_published_count_and_pruned_ones_are_gone(compute: Compute, projection: bool) -> None:
    run = compute(method="teddy", projection=projection, **RATES)
    for number in (1, 2):
        masks, weights = run.masks(number), run.weights(number)
        assert masks.weights.total - masks.weights.kept == math.ceil(removed_after(0.1, number, WEIGHTS))
        assert sum(np.count_nonzero(weights[name]) for name in masks.weights.keep) <= masks.weights.kept
        assert not any(weights[name][~keep].any() for name, keep in masks.weights.keep.items())
        report = audit(run, number)
        assert report.passed
        assert report.test == pytest.approx(report.recorded_test, abs=1e-3)
    assert {event.stage for event in run.events()[0]} == {"retrain"}
    # With the projection every round starts from all weights of theta_0.
    assert run.masks(2).weights.within(run.masks(1).weights) == (not projection)
    assert TEDDY.nests(run.config) == (not projection)


def test_without_projection_and_distillation_a_round_is_that_of_the_edge_score(compute: Compute) -> None:
    """At rates whose counts need no rounding, the first round has the bytes of method `score`."""
    rates = {"p_graph": 0.5, "p_weight": 0.5, "rounds": 1}
    ours = compute(method="teddy", store="teddy", projection=False, distillation=0.0, **rates)
    other = compute(method="score", store="score", score="teddy", **rates)
    assert tensors(ours) == tensors(other)


def tensors(run: SeedRun) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(run.path.glob("*.safetensors"))}


# The retraining against dense matrices.


@pytest.fixture
def problem(small_graph: Graph) -> Problem:
    """The small graph under a GCN of three hidden units, without dropout."""
    settings = {"hidden": 3, "dropout": 0.0, "degree": "fixed", "learning_rate": 0.05, "weight_decay": 0.02}
    return Problem(resolve({"model": "gcn", "method": "teddy", **settings}), small_graph)


def dense_retraining(
    problem: Problem, masks: Masks, left: int | None, factor: float, teacher: torch.Tensor, epochs: int
) -> list[np.ndarray]:
    """Train in double precision with N x N matrices, torch's plain Adam, and an argsort for the projection."""
    graph, theta0 = problem.graph, problem.initial_weights(0)
    count = graph.num_nodes
    degree = np.bincount(graph.edges.ravel(), minlength=count) + 1
    adjacency = np.eye(count)
    source, target = graph.entries()[:, masks.edges.keep]
    adjacency[target, source] = 1
    normal = torch.from_numpy(adjacency / np.sqrt(np.outer(degree, degree)))
    features = torch.from_numpy(graph.features.toarray()).double()
    features = features / features.sum(dim=1, keepdim=True).clamp(min=1)
    thetas = [torch.from_numpy(theta0[f"layers.{layer}.weight"]).double().requires_grad_() for layer in range(2)]
    adam = torch.optim.Adam(thetas, lr=problem.config.learning_rate, weight_decay=problem.config.weight_decay)
    train, labels = torch.from_numpy(graph.split.train), torch.from_numpy(graph.labels)
    known = teacher.double().softmax(dim=1)
    for _ in range(epochs):
        adam.zero_grad()
        output = normal @ (normal @ features @ thetas[0]).relu() @ thetas[1]
        loss = torch.nn.functional.cross_entropy(output[train], labels[train])
        divergence = (known * (known.log() - output.log_softmax(dim=1))).sum() / count
        (loss + factor * divergence).backward()
        adam.step()
        if left is not None:
            flat = torch.cat([theta.detach().abs().ravel() for theta in thetas])
            bound = flat.sort(descending=True).values[left - 1]
            for theta in thetas:
                theta.data[theta.detach().abs() < bound] = 0
    return [theta.detach().numpy() for theta in thetas]


@pytest.mark.parametrize(("left", "factor"), [(None, 0.7), (12, 0.0), (12, 0.7), (5, 10.0)])
def test_projection_and_distillation_equal_the_definitions(problem: Problem, left: int | None, factor: float) -> None:
    full = problem.full_masks()
    teacher = dense_logits(problem, problem.initial_weights(5))
    edges = full.edges.prune_exactly(np.arange(full.edges.kept, dtype=float), 3)
    network = Network(problem, Masks(edges, full.weights), problem.initial_weights(0))
    rule = RetrainRule(left, teacher if factor else None, factor)
    config = problem.config
    schedule = Schedule(6, config.learning_rate, config.weight_decay, rule=rule)
    result = Stage(network, schedule, np.random.default_rng(0)).run(lambda _: None)
    expected = dense_retraining(problem, Masks(edges, full.weights), left, factor, teacher, epochs=6)
    for layer, values in enumerate(expected):
        assert result.last_tensors[f"theta/layers.{layer}.weight"] == pytest.approx(values, abs=2e-5)
    nonzero = sum(np.count_nonzero(values) for values in result.last_tensors.values())
    assert nonzero == (left or full.weights.total)


def test_equal_magnitudes_fall_by_index(problem: Problem) -> None:
    network = Network(problem, problem.full_masks(), problem.initial_weights(0))
    for value in network.theta.values():
        value.data.fill_(-1.0)
    network.keep_largest_weights(4)
    assert network.theta["layers.0.weight"].count_nonzero() == 0
    assert network.theta["layers.1.weight"].ravel().tolist() == [0.0] * 5 + [-1.0] * 4


# Resuming, settings, refusals.

SWITCHES = [{}, {"projection": False}, {"distillation": 0.0}, {"score": "random"}]


@pytest.mark.parametrize("switch", SWITCHES, ids=str)
def test_each_switch_changes_the_round_and_resuming_gives_the_same_bytes(
    compute: Compute, switch: dict[str, Any]
) -> None:
    whole = compute(store="whole", method="teddy", **switch)
    if switch:
        assert (
            tensors(compute(store="other", method="teddy"))["weights-01.safetensors"]
            != (tensors(whole)["weights-01.safetensors"])
        )
    for stop in (4, 9, 15):
        with pytest.raises(Stopped):
            compute(store=f"cut {stop}", observer=Watcher(stop), method="teddy", **switch)
        resumed = compute(store=f"cut {stop}", method="teddy", **switch)
        assert tensors(resumed) == tensors(whole)
        assert (resumed.path / "events.jsonl").read_bytes() == (whole.path / "events.jsonl").read_bytes()


def test_the_published_settings_and_the_factor_of_one_pair() -> None:
    config = resolve({"method": "teddy"}, "published")
    assert (config.hidden, config.layers, config.rounds, config.retrain_epochs) == (512, 2, 20, 200)
    assert (config.learning_rate, config.weight_decay, config.p_graph, config.p_weight) == (0.01, 5e-4, 0.05, 0.1)
    assert config.options == {"distillation": 0.1, "projection": True, "score": "teddy"}
    gat = resolve({"method": "teddy", "model": "gat"}, "published")
    assert gat.options["gat_heads"] == 8
    factors = {
        (dataset, model): resolve({"method": "teddy", "dataset": dataset, "model": model}, "published").options[
            "distillation"
        ]
        for dataset in ("cora", "citeseer", "pubmed")
        for model in ("gcn", "gin", "gat")
    }
    assert {pair for pair, factor in factors.items() if factor != 0.1} == {("citeseer", "gin")}
    assert factors["citeseer", "gin"] == 10


def test_distillation_of_links_is_refused_before_anything_starts(compute: Compute) -> None:
    link = {"method": "teddy", "task": "link"}

    def never(name: str) -> Any:
        raise AssertionError("no other run is read")

    with pytest.raises(ConfigError, match=r"link prediction and binary tasks do not have: set distillation=0"):
        TEDDY.check(resolve(link), [0], never)
    without = {**link, "distillation": 0.0, "link_objective": "bce", "rounds": 1, "epochs": 2, "retrain_epochs": 2}
    TEDDY.check(resolve(without), [0], never)
    assert audit(compute(**without), 1).passed


def test_a_half_with_rate_0_stays_whole(compute: Compute) -> None:
    edges, weights = (compute(method="teddy", store=name, rounds=1, **{name: 0}) for name in ("p_graph", "p_weight"))
    assert edges.masks(1).edges.sparsity == 0 < edges.masks(1).weights.sparsity
    assert weights.masks(1).weights.sparsity == 0 < weights.masks(1).edges.sparsity
    assert edges.edge_scores(1) is None


def test_a_ticket_file_has_the_counts_of_the_method(compute: Compute, tmp_path: Path) -> None:
    ticket = make_ticket(compute(method="teddy", **RATES), 2)
    path = tmp_path / "ticket.zip"
    path.write_bytes(ticket_bytes(ticket))
    assert not list(contradictions(read_ticket(path)))
    other = RunConfig(**{**RATES, "method": "ugs"})
    counts = (ticket.masks.edges.kept, ticket.masks.weights.kept)
    assert counts != METHODS.get("ugs").remaining(other, 2, 10_556, WEIGHTS)
