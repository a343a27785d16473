"""Algorithm 2: counts, nesting, rewinding, and resuming to the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glt.config import RunConfig
from glt.datasets import load_graph
from glt.lottery.audit import audit
from glt.lottery.lottery import Stopped, epochs_before, find_tickets
from glt.masks import remaining_after
from glt.methods import METHODS
from glt.presets import resolve
from glt.store import SeedRun, Store, run_name

Compute = Callable[..., SeedRun]
Watch = Callable[..., Any]
CORA_EDGES = 5278
WEIGHTS = 1433 * 16 + 16 * 7
# Random tickets start from weights of their own, on purpose, and have tests of their own.
SEARCHING = [method.name for method in METHODS if method.initialisation(RunConfig(method=method.name)) == 0]
EDGES = 2 * CORA_EDGES


@pytest.mark.parametrize("edge_mask", ["directed", "undirected"])
@pytest.mark.parametrize("method", ["ugs", "random"])
def test_each_round_removes_exactly_its_share(compute: Compute, method: str, edge_mask: str) -> None:
    run = compute(method=method, edge_mask=edge_mask)
    entries = CORA_EDGES * (2 if edge_mask == "directed" else 1)
    for k in range(3):
        masks = run.masks(k)
        assert masks.edges.kept == remaining_after(0.05, entries, k)
        assert masks.weights.kept == remaining_after(0.2, WEIGHTS, k)
        assert k == 0 or masks.within(run.masks(k - 1))


def test_admm_meets_the_round_targets_with_symmetric_edges(compute: Compute) -> None:
    run = compute(method="admm", admm_iterations=3, admm_steps=2)
    for k in range(3):
        masks = run.masks(k)
        assert int(masks.edges.either_way().sum()) == remaining_after(0.05, CORA_EDGES, k)
        assert np.array_equal(masks.edges.either_way(), masks.edges.both_ways())
        assert masks.weights.kept == remaining_after(0.2, WEIGHTS, k)


@pytest.mark.parametrize("competes", [False, True])
def test_admm_notes_how_far_its_graph_is_from_the_start(compute: Compute, competes: bool) -> None:
    run = compute(method="admm", rounds=1, admm_iterations=3, admm_steps=2, admm_start_competes=competes)
    dense, pruned = run.rounds()
    assert set(dense.notes) == {"validation_chance"}
    edges = load_graph("cora").edges
    degrees = np.bincount(edges.ravel()) + 1
    # The start is 1 / sqrt((d_i + 1)(d_j + 1)): its projection keeps the smallest products of degrees.
    first = np.argsort(degrees[edges[0]] * degrees[edges[1]], kind="stable")[: remaining_after(0.05, CORA_EDGES, 1)]
    kept = np.flatnonzero(run.masks(1).edges.either_way())
    assert pruned.notes["solver_edges_changed"] == len(set(kept) - set(first))
    scores, start = pruned.notes["solver_validations"], pruned.notes["solver_start_validation"]
    assert isinstance(scores, list)
    best = scores.index(max(scores)) + 1
    assert pruned.notes["solver_iterate"] == (0 if competes and max(scores) <= start else best)
    assert len(scores) == 3


@pytest.mark.parametrize("objective", ["gic", "bce", "hadamard"])
def test_admm_covers_all_training_edges_where_links_are_predicted(compute: Compute, objective: str) -> None:
    """Edges held out are held out once: the small network sees the same training graph as the run's own."""
    settings = {"task": "link", "link_objective": objective, "gic_iterations": 1}
    run = compute(method="admm", rounds=1, admm_iterations=2, admm_steps=1, **settings)
    assert run.masks(0).edges.keep.size == run.masks(1).edges.keep.size == 2 * 4488
    assert int(run.masks(1).edges.either_way().sum()) == remaining_after(0.05, 4488, 1)


def test_round_0_and_theta_0_are_equal_for_all_methods_of_a_seed(compute: Compute) -> None:
    runs = [compute(method=name, rounds=1) for name in SEARCHING]
    first = runs[0].rounds()[0].model_dump(exclude={"seconds"})
    for run in runs:
        assert run.rounds()[0].model_dump(exclude={"seconds"}) == first
        assert all(np.array_equal(run.theta0()[name], runs[0].theta0()[name]) for name in run.theta0())
        assert all(np.array_equal(run.weights(0)[name], runs[0].weights(0)[name]) for name in run.weights(0))


def test_seeds_differ(compute: Compute) -> None:
    first, second = compute(seed=0, rounds=1), compute(seed=1, rounds=1)
    assert not np.array_equal(first.theta0()["layers.0.weight"], second.theta0()["layers.0.weight"])
    assert not np.array_equal(first.masks(1).edges.keep, second.masks(1).edges.keep)


def tensor_bytes(run: SeedRun) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(run.path.glob("*.safetensors"))}


@pytest.mark.parametrize("method", SEARCHING)
@pytest.mark.parametrize("stop_after", [3, 8, 11])
def test_stopping_anywhere_and_resuming_gives_the_same_bytes(
    compute: Compute, watch: Watch, method: str, stop_after: int
) -> None:
    options = {"admm_iterations": 3, "admm_steps": 2} if method == "admm" else {}
    whole = compute(store="whole", method=method, rounds=1, **options)
    with pytest.raises(Stopped):
        compute(store="cut", observer=watch(stop_after), method=method, rounds=1, **options)
    resumed = compute(store="cut", method=method, rounds=1, **options)
    assert tensor_bytes(resumed) == tensor_bytes(whole)
    assert (resumed.path / "events.jsonl").read_bytes() == (whole.path / "events.jsonl").read_bytes()
    without_seconds = [record.model_dump(exclude={"seconds"}) for record in whole.rounds()]
    assert [record.model_dump(exclude={"seconds"}) for record in resumed.rounds()] == without_seconds


def test_more_rounds_extend_a_run(compute: Compute) -> None:
    compute(store="grown", rounds=1)
    grown = compute(store="grown", rounds=2)
    assert len(grown.rounds()) == 3
    assert tensor_bytes(grown) == tensor_bytes(compute(store="at once", rounds=2))


def test_progress_covers_every_epoch_and_ends_at_one(compute: Compute, watch: Watch) -> None:
    watcher = watch()
    run = compute(observer=watcher)
    assert watcher.seen[-1].fraction == 1
    fractions = [progress.fraction for progress in watcher.seen]
    assert fractions == sorted(fractions)
    assert len(watcher.seen) == epochs_before(run.config, 3) == len(run.events()[0])


def test_pruned_weights_are_exactly_zero_in_the_store(compute: Compute) -> None:
    run = compute()
    for name, keep in run.masks(2).weights.keep.items():
        assert not run.weights(2)[name][~keep].any()


def test_a_method_that_breaks_its_promise_of_nesting_is_caught(
    tmp_path: Path, watch: Watch, small: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(METHODS.get("admm")), "nested", True)
    monkeypatch.setattr("glt.methods.admm.ADMM.next_masks", lambda self, context: widened(context))
    run = Store(tmp_path / "broken").create(resolve({**small, "method": "admm"})).seed(0)
    with run.lock(), pytest.raises(ValueError, match="promises nested masks"):
        find_tickets(run, watch())


def widened(context):  # noqa: ANN001, ANN201
    """Prune in round 1 and hand everything back in round 2."""
    from glt.methods import Proposal

    if context.round == 1:
        return METHODS.get("random").next_masks(context)
    return Proposal(context.problem.full_masks())


@pytest.fixture
def one_run_seed(compute: Compute) -> SeedRun:
    return compute(schedule="one_run")


def test_every_round_has_the_counts_of_algorithm_2_and_starts_from_everything(one_run_seed: SeedRun) -> None:
    masks = [one_run_seed.masks(k) for k in range(3)]
    assert [m.edges.kept for m in masks] == [remaining_after(0.05, EDGES, k) for k in range(3)]
    assert [m.weights.kept for m in masks] == [remaining_after(0.2, WEIGHTS, k) for k in range(3)]
    assert not masks[2].edges.within(masks[1].edges)
    assert one_run_seed.edge_scores(1) is None


def test_round_0_is_that_of_the_iterative_schedule(compute: Compute, one_run_seed: SeedRun) -> None:
    other = compute(rounds=1)
    for name, value in other.weights(0).items():
        assert np.array_equal(one_run_seed.weights(0)[name], value)


def test_the_audit_passes(one_run_seed: SeedRun) -> None:
    assert audit(one_run_seed, 2).passed


@pytest.mark.parametrize("stop_after", [8, 20])
def test_stopping_in_a_search_or_after_a_round_and_resuming_gives_the_same_bytes(
    compute: Compute, watch: Callable[..., Any], one_run_seed: SeedRun, stop_after: int
) -> None:
    with pytest.raises(Stopped):
        compute(store="cut", observer=watch(stop_after), schedule="one_run")
    assert tensor_bytes(compute(store="cut", schedule="one_run")) == tensor_bytes(one_run_seed)


def test_nesting_is_promised_by_the_iterative_schedule_alone() -> None:
    ugs = METHODS.get("ugs")
    assert ugs.nests(RunConfig())
    assert ugs.nests(resolve({}))
    assert not ugs.nests(resolve({"schedule": "one_run"}))
    assert METHODS.get("random").nests(RunConfig())
    assert not METHODS.get("admm").nests(RunConfig())


def test_the_usual_schedule_leaves_names_of_runs_as_they_were() -> None:
    """The name is that of a bundled example, which is older than the setting."""
    usual, named = resolve({}), resolve({"schedule": "iterative"})
    assert usual == named
    assert "schedule" not in usual.options
    assert run_name(usual) == "cora-node-gcn-ugs-df8e8f72"
    assert run_name(resolve({"schedule": "one_run"})) != run_name(usual)
