"""FastGLT: cut, growth scores and terms against dense references; exact counts, targets, resuming."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from glt.datasets.graph import Graph
from glt.errors import ConfigError
from glt.jobs import start
from glt.lottery.audit import audit
from glt.lottery.lottery import Stopped, epochs_before
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.methods import METHODS
from glt.methods.fast_glt import Exchange, FastGLTOptions, Spread, degree_term, exchanged, mean_difference
from glt.presets import resolve
from glt.seeds import stream
from glt.store import Store
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.tasks import TrainingPass
from glt.training.trainer import Schedule, Stage
from tests.conftest import Compute, Watcher

ENTRIES, WEIGHTS = 2 * 5278, 1433 * 16 + 16 * 7
SMALL = {"method": "fast_glt", "epochs": 7, "retrain_epochs": 3, "fast_warm_up": 2}


def test_mean_difference_equals_that_of_all_pairs() -> None:
    values = torch.randn(50, dtype=torch.float64, requires_grad=True)
    pairs = (values[:, None] - values[None]).abs().mean()
    assert float(mean_difference(values).detach()) == pytest.approx(float(pairs.detach()))
    expected = torch.autograd.grad(pairs, values)[0]
    torch.testing.assert_close(torch.autograd.grad(mean_difference(values), values)[0], expected)


def test_terms_equal_their_formula(small_graph: Graph) -> None:
    problem = Problem(resolve({"hidden": 4}), small_graph)
    masks = problem.full_masks()
    network = Network(problem, masks, problem.initial_weights(0), SoftMasks.around_one(masks, 0.3, _draw(), "cpu"))
    step = TrainingPass(torch.zeros(6, 3), {}, _draw(), lambda order: order)
    assert network.soft is not None
    assert network.soft.edges is not None
    values = network.soft.edges.detach().double().numpy()

    def formula(m: np.ndarray) -> float:
        return float(np.exp(-0.5 * np.abs(m[:, None] - m).mean()) - np.log(m.var(ddof=1)))

    found = Spread(0.1).terms(step, network)
    assert found is not None
    assert float(found.detach()) == pytest.approx(0.1 * formula(values), rel=1e-4)
    keep = np.arange(values.size) % 2 == 0
    cut = Masks(EdgeMask("directed", keep), masks.weights)
    rule = Exchange(cut, small_graph, FastGLTOptions(), resolve({"method": "fast_glt"}))
    of_kept = rule.terms(step, network)
    assert of_kept is not None
    assert float(of_kept.detach()) == pytest.approx(0.1 * formula(values[keep]), rel=1e-4)
    assert Spread(0.0).terms(step, network) is None


def _draw() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("seed", range(4))
def test_an_exchange_takes_the_lowest_for_the_best_of_all_others(seed: int) -> None:
    draw = np.random.default_rng(seed)
    keep, magnitudes, growth = draw.random(60) < 0.6, draw.random(60), draw.random(60)
    for share in (0.0, 0.1, 0.5):
        after = exchanged(keep, magnitudes, growth, share)
        count, kept = int(share * keep.sum()), np.flatnonzero(keep)
        left = np.setdiff1d(kept, kept[np.argsort(magnitudes[kept])[:count]])
        others = np.setdiff1d(np.arange(60), left)
        expected = np.union1d(left, others[np.argsort(-growth[others])[:count]])
        assert np.array_equal(np.flatnonzero(after), expected)
        assert after.sum() == keep.sum()


@pytest.mark.parametrize("undirected", [True, False])
def test_degree_term_equals_dense_degrees(small_graph: Graph, undirected: bool) -> None:
    entries = small_graph.edges if undirected else small_graph.entries()
    keep = np.arange(entries.shape[1]) % 3 != 0
    dense = np.zeros((6, 6))
    dense[entries[0, keep], entries[1, keep]] = 1
    degrees = np.maximum((dense + dense.T if undirected else dense).sum(1), 1)
    expected = [degrees[i] ** -1.5 * degrees[j] ** -1.5 for i, j in entries.T]
    np.testing.assert_allclose(degree_term(entries, keep, undirected, 6), expected)


def test_gradients_of_removed_entries_equal_dense_ones(small_graph: Graph) -> None:
    """The gradient of a removed entry is that of a dense adjacency at 0, a removed weight's that of its matrix at 0."""
    config = resolve({"method": "fast_glt", "hidden": 3, "dropout": 0.0, "degree": "fixed", "fast_interval": 2})
    problem, options = Problem(config, small_graph), FastGLTOptions(fast_interval=2, fast_gradients=1, fast_spread=0.0)
    full, draw = problem.full_masks(), np.random.default_rng(3)
    weights = WeightMask({name: draw.random(keep.shape) < 0.7 for name, keep in full.weights.keep.items()})
    cut = Masks(EdgeMask("directed", draw.random(10) < 0.6), weights)
    theta = {name: value * weights.keep[name] for name, value in problem.initial_weights(3).items()}
    values = (draw.random(10) * cut.edges.keep).astype(np.float32)
    network = Network(problem, full, theta, SoftMasks(torch.from_numpy(values.copy()).requires_grad_(), {}))
    rule = Exchange(cut, small_graph, options, config)
    seen: dict[str, np.ndarray] = {}
    real = rule._exchange

    def spied(tensors: Any, share: float) -> None:
        seen.update(rule._gradients)
        real(tensors, share)

    rule._exchange = spied  # type: ignore[method-assign]
    Stage(network, Schedule(3, 1e-30, 0.0, 1e-30, rule=rule), stream(0, 1, "search")).run(lambda result: None)
    source, target = small_graph.entries()
    degrees = torch.from_numpy(np.bincount(small_graph.edges.ravel(), minlength=6) + 1).double()
    edge = torch.from_numpy(values).double().requires_grad_()
    first, second = (torch.from_numpy(theta[f"layers.{k}.weight"]).double().requires_grad_() for k in range(2))
    matrix = torch.eye(6, dtype=torch.float64).index_put((torch.from_numpy(target), torch.from_numpy(source)), edge)
    matrix = degrees.rsqrt()[:, None] * matrix * degrees.rsqrt()
    features = torch.from_numpy(small_graph.features.toarray()).double()
    features = features / features.sum(1, keepdim=True).clamp(min=1e-9)
    logits = matrix @ (matrix @ features @ first).relu() @ second
    labels = torch.from_numpy(small_graph.labels)
    loss = torch.nn.functional.cross_entropy(logits[small_graph.split.train], labels[small_graph.split.train])
    expected = torch.autograd.grad(loss, (edge, first, second))
    for name, gradient in zip(("edges", "layers.0.weight", "layers.1.weight"), expected, strict=True):
        np.testing.assert_allclose(seen[name], gradient.numpy(), atol=1e-6)
    assert np.abs(expected[0].numpy()[~cut.edges.keep]).max() > 1e-4


def test_grown_weights_start_at_zero_and_edges_at_the_mean(small_graph: Graph) -> None:
    config = resolve({"method": "fast_glt", "hidden": 4, "dropout": 0.0})
    problem, options = Problem(config, small_graph), FastGLTOptions(fast_interval=2, fast_share=0.9)
    full, draw = problem.full_masks(), np.random.default_rng(3)
    weights = WeightMask({name: draw.random(keep.shape) < 0.5 for name, keep in full.weights.keep.items()})
    cut = Masks(EdgeMask("directed", draw.random(10) < 0.5), weights)
    theta = {name: value * weights.keep[name] for name, value in problem.initial_weights(3).items()}
    values = ((0.5 + draw.random(10)) * cut.edges.keep).astype(np.float32)
    network = Network(problem, full, theta, SoftMasks(torch.from_numpy(values.copy()).requires_grad_(), {}))
    rule = Exchange(cut, small_graph, options, config)
    # Two epochs with next to no steps: the exchange after the second of three is the only one.
    tensors: list[dict[str, np.ndarray]] = []
    stage = Stage(network, Schedule(3, 1e-30, 0.0, 1e-30, rule=rule), stream(0, 1, "search"))
    stage.run(lambda result: tensors.append({name: each.numpy().copy() for name, each in network.state().items()}))
    after = rule.masks(best=False)
    assert (after.edges.kept, after.weights.kept) == (cut.edges.kept, cut.weights.kept)
    grown = after.edges.keep & ~cut.edges.keep
    assert grown.any()
    np.testing.assert_allclose(tensors[1]["mask/edges"][grown], values[cut.edges.keep].mean(), rtol=1e-6)
    assert not tensors[2]["mask/edges"][~after.edges.keep].any()
    for name, keep in after.weights.keep.items():
        assert not tensors[1][f"theta/{name}"][keep & ~weights.keep[name]].any()
        assert not tensors[2][f"theta/{name}"][~keep].any()


@pytest.mark.parametrize("masks_from", ["best_validation", "last"])
@pytest.mark.parametrize("edge_mask", ["directed", "undirected"])
def test_rounds_have_ugs_counts(compute: Compute, edge_mask: str, masks_from: str) -> None:
    run = compute(**SMALL, edge_mask=edge_mask, masks_from=masks_from)
    entries = ENTRIES if edge_mask == "directed" else ENTRIES // 2
    for k in (1, 2):
        masks = run.masks(k)
        assert masks.edges.kept == remaining_after(0.05, entries, k)
        assert masks.weights.kept == remaining_after(0.2, WEIGHTS, k)
        assert (run.record(k).notes["masks_read"] == 6) or masks_from == "best_validation"
    assert run.edge_scores(1) is None
    assert audit(run, 2).passed


def test_targets_replace_the_counts_of_round_1(compute: Compute) -> None:
    masks = compute(**SMALL, rounds=1, fast_edges_kept=0.65, fast_weights_kept=0.07).masks(1)
    assert (masks.edges.kept, masks.weights.kept) == (int(0.65 * ENTRIES), int(0.07 * WEIGHTS))


@pytest.mark.parametrize("half", ["p_graph", "p_weight"])
@pytest.mark.parametrize("warm_up", [0, 2])
def test_a_rate_of_zero_keeps_a_half_whole(compute: Compute, half: str, warm_up: int) -> None:
    settings = {**SMALL, "fast_warm_up": warm_up, "fast_edges_kept": 0.5, "fast_weights_kept": 0.25, half: 0}
    masks = compute(**settings, rounds=1).masks(1)
    assert masks.edges.kept == (ENTRIES if half == "p_graph" else ENTRIES // 2)
    assert masks.weights.kept == (WEIGHTS if half == "p_weight" else WEIGHTS // 4)


def test_rates_of_zero_search_nothing(compute: Compute) -> None:
    run = compute(**SMALL, rounds=1, p_graph=0, p_weight=0)
    assert {event.stage for event in run.events()[0]} == {"retrain"}


@pytest.mark.parametrize("settings", [{"model": "gat", "gat_heads": 2}, {"model": "gin"}, {"task": "link"}], ids=str)
def test_other_models_and_tasks(compute: Compute, settings: dict[str, Any]) -> None:
    small = {"gic_clusters": 8, "gic_iterations": 1} if "task" in settings else {}
    run = compute(**SMALL, **settings, **small, rounds=1, fast_edges_kept=0.5)
    assert run.masks(1).edges.kept == run.masks(0).edges.kept // 2
    assert audit(run, 1).passed


@pytest.mark.parametrize("stop", [4, 6, 7, 9, 11, 12])
def test_every_stage_resumes_to_the_same_bits(compute: Compute, stop: int) -> None:
    """Three epochs of round 0, two of the warm-up, seven with exchanges after the third and the sixth."""
    settings = {**SMALL, "rounds": 1, "fast_edges_kept": 0.5, "fast_weights_kept": 0.3}
    whole = compute(store="whole", **settings)
    with pytest.raises(Stopped):
        compute(store="cut", observer=Watcher(stop), **settings)
    resumed = compute(store="cut", **settings)
    assert (resumed.path / "events.jsonl").read_bytes() == (whole.path / "events.jsonl").read_bytes()
    for name in ("round-01.safetensors", "weights-01.safetensors"):
        assert (resumed.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_exchanges_change_the_cut(compute: Compute) -> None:
    """An interval longer than the search makes none; the cut itself is the same."""
    cut = compute(store="cut", **SMALL, rounds=1, fast_interval=8).masks(1)
    exchanged_ones = compute(store="exchanged", **SMALL, rounds=1, masks_from="last").masks(1)
    assert not np.array_equal(cut.edges.keep, exchanged_ones.edges.keep)
    assert cut.edges.kept == exchanged_ones.edges.kept


def test_refused_settings(tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match="set rounds to 1"):
        start(Store(tmp_path), resolve({"method": "fast_glt", "fast_weights_kept": 0.1}), [0])
    with pytest.raises(ConfigError, match="fast_gradients cannot be 4"):
        resolve({"method": "fast_glt", "fast_gradients": 4})
    clusters = {"model": "resgcn", "batch_clusters": 2, "cluster_masks": "fresh"}
    with pytest.raises(ConfigError, match="cluster_masks"):
        start(Store(tmp_path), resolve({"method": "fast_glt", **clusters}), [0])


def test_published_targets_and_epochs(compute: Compute) -> None:
    config = resolve({"method": "fast_glt"}, "published")
    assert (config.rounds, config.epochs, config.retrain_epochs) == (1, 400, 200)
    method = METHODS.get("fast_glt")
    assert method.remaining(config, 1, ENTRIES, 10_000) == (6861, 700)
    assert method.search_epochs(config) == 430
    citeseer = resolve({"method": "fast_glt", "dataset": "citeseer"}, "published")
    assert method.remaining(citeseer, 1, 1000, 1000) == (1000, 50)
    watcher = Watcher()
    run = compute(observer=watcher, **SMALL, rounds=1)
    assert epochs_before(run.config, 2) == len(watcher.seen) == 3 + 2 + 7 + 3
