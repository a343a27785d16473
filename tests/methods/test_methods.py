"""Methods: ADMM's solver against dense matrices, the masks that each method computes, random tickets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from glt.config import RunConfig, options_of
from glt.datasets import load_graph
from glt.datasets.graph import Graph
from glt.errors import ConfigError, StoreError
from glt.jobs import resume, start
from glt.lottery.audit import audit
from glt.lottery.lottery import compute_rounds
from glt.masks import remaining_after
from glt.methods import METHODS, Proposal, admm
from glt.methods.admm import ADMM, ADMMOptions, SolvedEdges, largest, solve_edges, support
from glt.presets import PRESETS, all_options, resolve
from glt.store import Run, Status, Store, run_name
from glt.store.paths import EXAMPLES
from glt.training.problem import Problem
from tests.conftest import Compute, Watcher

EXAMPLE = "cora-node-gcn-admm-0913104b"
KEPT = 3


def settings(**changes: float) -> ADMMOptions:
    usual = {"rho": 0.05, "learning_rate": 0.2, "weight_decay": 0.01, "iterations": 4, "steps": 3, "patience": 10}
    return ADMMOptions(**{f"admm_{name}": value for name, value in {**usual, **changes}.items()})


@pytest.fixture
def problem(small_graph: Graph) -> Problem:
    """The small graph under a GCN of three hidden units, without dropout."""
    wanted = {"hidden": 3, "dropout": 0.0, "degree": "fixed", "edge_mask": "undirected"}
    return Problem(resolve({"model": "gcn", **wanted}), small_graph)


def solve(problem: Problem, options: ADMMOptions) -> SolvedEdges:
    weights = problem.initial_weights(0)
    return solve_edges(problem, weights, KEPT, options, np.random.default_rng(0), lambda iteration: None)


def test_projection_keeps_the_largest_magnitudes() -> None:
    values = torch.tensor([2.0, -3.0, 1.0, 2.0, -2.0])
    assert support(values, 3).tolist() == [True, True, False, True, False]
    assert largest(values, 3).tolist() == [2.0, -3.0, 0.0, 2.0, 0.0]
    assert largest(values, 0).tolist() == [0.0] * 5
    assert largest(values, 5).tolist() == values.tolist()


def dense_iterates(problem: Problem, options: ADMMOptions) -> Iterator[np.ndarray]:
    """Yield A after every iteration, by dense N x N matrices in double precision and Adam written out."""
    graph, weights = problem.graph, problem.initial_weights(0)
    first, second = (torch.from_numpy(weights[f"layers.{layer}.weight"]).double() for layer in range(2))
    features, labels = torch.from_numpy(graph.features.toarray()).double(), torch.from_numpy(graph.labels)
    features = features / features.sum(1, keepdim=True).clamp(min=1e-9)
    degrees = torch.from_numpy(np.bincount(graph.edges.ravel(), minlength=graph.num_nodes) + 1).double()
    one, other = torch.from_numpy(graph.edges)
    values = (degrees[one] * degrees[other]).rsqrt()
    projected, dual = top(values, KEPT), torch.zeros_like(values)
    mean, square, step = torch.zeros_like(values), torch.zeros_like(values), 0
    for _ in range(options.admm_iterations):
        for _ in range(options.admm_steps):
            step += 1
            point = values.clone().requires_grad_()
            matrix = torch.diag(1 / degrees).index_put((one, other), point).index_put((other, one), point)
            logits = matrix @ (matrix @ features @ first).relu() @ second
            loss = torch.nn.functional.cross_entropy(logits[graph.split.train], labels[graph.split.train])
            loss = loss + options.admm_rho / 2 * ((point - projected + dual) ** 2).sum()
            gradient = torch.autograd.grad(loss, point)[0] + options.admm_weight_decay * values
            mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
            scale = (square / (1 - 0.999**step)).sqrt() + 1e-8
            values = values - options.admm_learning_rate * mean / (1 - 0.9**step) / scale
        projected = top(values + dual, KEPT)
        dual = dual + values - projected
        yield top(values, KEPT).numpy()


def top(values: Tensor, count: int) -> Tensor:
    kept = torch.zeros_like(values)
    chosen = np.argsort(-values.abs().numpy(), kind="stable")[:count]
    kept[chosen] = values[chosen]
    return kept


def test_admm_iterates_equal_a_dense_formulation(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    scored = admm._FixedNetwork.validation
    monkeypatch.setattr(
        admm._FixedNetwork,
        "validation",
        lambda network, values: (seen.append(values.numpy().copy()), scored(network, values))[1],
    )
    solve(problem, settings())
    expected = list(dense_iterates(problem, settings()))
    assert len(seen) == 1 + len(expected)
    np.testing.assert_allclose(seen[1:], expected, rtol=1e-4, atol=1e-6)
    supports = {tuple(values != 0) for values in seen}
    assert len(supports) == 4, "the start, the first two iterates, the third and the fourth keep other edges"


def scripted(monkeypatch: pytest.MonkeyPatch, start: float, iterates: Sequence[float]) -> None:
    """Replace the validation scores of the start's projection and of the iterates."""
    scores = iter([start, *iterates])
    monkeypatch.setattr(admm._FixedNetwork, "validation", lambda network, values: next(scores))


@pytest.mark.parametrize(
    ("competes", "start", "iterates", "chosen"),
    [
        (False, 0.5, [0.6, 0.7, 0.7, 0.6], 2),
        (True, 0.5, [0.6, 0.7, 0.7, 0.6], 2),
        (False, 0.8, [0.7, 0.8, 0.8, 0.7], 2),
        (True, 0.8, [0.7, 0.8, 0.8, 0.7], 0),
        (False, 0.8, [0.8, 0.8, 0.8, 0.8], 1),
        (True, 0.8, [0.8, 0.8, 0.8, 0.8], 0),
        (False, 0.9, [0.4, 0.3, 0.2, 0.1], 1),
        (True, 0.9, [0.4, 0.3, 0.2, 0.1], 0),
    ],
)
def test_admm_keeps_the_first_strict_maximum(
    problem: Problem,
    monkeypatch: pytest.MonkeyPatch,
    competes: bool,
    start: float,
    iterates: Sequence[float],
    chosen: int,
) -> None:
    scripted(monkeypatch, start, iterates)
    solved = solve(problem, settings(start_competes=competes))
    assert (solved.iterate, solved.start_score, solved.scores) == (chosen, start, tuple(iterates))
    graphs = [support(torch.from_numpy(values), KEPT).numpy() for values in dense_iterates(problem, settings())]
    first = np.zeros(5, dtype=bool)
    first[degree_order(problem)[:KEPT]] = True
    assert solved.keep.tolist() == [first, *graphs][chosen].tolist()
    assert solved.changed == int((solved.keep & ~first).sum())


def degree_order(problem: Problem) -> np.ndarray:
    """Edges by 1 / sqrt((d_i + 1)(d_j + 1)), the largest first: the smallest product of degrees."""
    degrees = np.bincount(problem.graph.edges.ravel()) + 1
    return np.argsort(degrees[problem.graph.edges[0]] * degrees[problem.graph.edges[1]], kind="stable")


def test_admm_stops_after_its_patience(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    for competes, made in ((True, 2), (False, 3)):
        scripted(monkeypatch, 0.8, [0.8] * 4)
        assert len(solve(problem, settings(start_competes=competes, patience=2)).scores) == made


def test_older_admm_configs_keep_start_and_name() -> None:
    old = Run.open(EXAMPLES / EXAMPLE).config
    assert "admm_start_competes" not in old.options
    assert options_of(old.options, ADMMOptions).admm_start_competes
    assert all_options(old)["admm_start_competes"] is True
    settings = {"dataset": "cora", "model": "gcn", "method": "admm"}
    config = resolve({**settings, "admm_start_competes": True}, "official")
    assert (config, run_name(config)) == (old, EXAMPLE)
    # By default it does not compete, and that is another run.
    for preset in (None, *PRESETS):
        config = resolve(settings, preset)
        assert config.options["admm_start_competes"] is False
        assert run_name(config) != EXAMPLE


def test_admm_notes_as_sentences() -> None:
    method = ADMM()
    notes = {"solver_iterate": 0, "solver_edges_changed": 0, "solver_start_validation": 0.776}
    notes["solver_validations"] = [0.776, 0.774]
    expected = "ADMM graph: the projection of the start (none of 2 iterates better; validation 77.6 %, start 77.6 %)"
    assert method.note_words(notes) == expected
    assert method.note_words({}) == method.note_words({"solver_iterate": "x"}) == ""


CORA_EDGES = 5278
WEIGHTS = 1433 * 16 + 16 * 7
SOLVER = {"method": "admm", "admm_iterations": 3, "admm_steps": 2}


@pytest.mark.parametrize("edge_mask", ["directed", "undirected"])
@pytest.mark.parametrize("method", ["ugs", "random", "score"])
def test_each_round_removes_exactly_its_share(compute: Compute, method: str, edge_mask: str) -> None:
    run = compute(method=method, edge_mask=edge_mask)
    entries = CORA_EDGES * (2 if edge_mask == "directed" else 1)
    for k in range(3):
        masks = run.masks(k)
        assert masks.edges.kept == remaining_after(0.05, entries, k)
        assert masks.weights.kept == remaining_after(0.2, WEIGHTS, k)
        assert k == 0 or masks.within(run.masks(k - 1))


@pytest.mark.parametrize("model", ["gcn", "gat", "gin"])
@pytest.mark.parametrize("half", ["p_graph", "p_weight"])
def test_a_rate_of_zero_keeps_a_half_whole_and_searches_the_other(compute: Compute, half: str, model: str) -> None:
    run = compute(model=model, **{half: 0})
    usual = compute(model=model, store="usual")
    full = usual.masks(0)
    for k in range(3):
        masks, expected = run.masks(k), usual.masks(k)
        if half == "p_graph":
            assert masks.edges.keep.all()
            assert masks.weights.kept == expected.weights.kept
        else:
            assert masks.weights.kept == full.weights.total
            assert masks.edges.kept == expected.edges.kept
    records = run.rounds()
    assert records[0].test == usual.rounds()[0].test
    assert ("edge_masks_at_zero" in records[1].notes) == (half == "p_weight")
    assert ("weight_masks_at_zero" in records[1].notes) == (half == "p_graph")
    assert (run.edge_scores(1) is None) == (half == "p_graph")


@pytest.mark.parametrize(
    "settings", [{"method": "random"}, {"schedule": "one_run"}, {"method": "admm", "admm_steps": 2}]
)
@pytest.mark.parametrize("half", ["p_graph", "p_weight"])
def test_a_rate_of_zero_in_other_methods(compute: Compute, settings: dict[str, object], half: str) -> None:
    run = compute(**settings, **{half: 0})
    masks = run.masks(2)
    assert masks.edges.keep.all() == (half == "p_graph")
    assert (masks.weights.kept == WEIGHTS) == (half == "p_weight")


def test_rates_of_zero_repeat_the_dense_network(compute: Compute) -> None:
    run = compute(p_graph=0, p_weight=0)
    assert all(masks.edges.keep.all() and masks.weights.kept == WEIGHTS for masks in map(run.masks, range(3)))
    assert {tuple(record.macs.values()) for record in run.rounds()} == {tuple(run.rounds()[0].macs.values())}
    assert {event.stage for event in run.events()[0]} == {"retrain"}


def test_admm_meets_the_round_targets_with_symmetric_edges(compute: Compute) -> None:
    run = compute(**SOLVER)
    for k in range(3):
        masks = run.masks(k)
        assert int(masks.edges.either_way().sum()) == remaining_after(0.05, CORA_EDGES, k)
        assert np.array_equal(masks.edges.either_way(), masks.edges.both_ways())
        assert masks.weights.kept == remaining_after(0.2, WEIGHTS, k)


@pytest.mark.parametrize("objective", ["gic", "bce", "hadamard"])
def test_admm_prunes_all_training_edges_in_link_prediction(compute: Compute, objective: str) -> None:
    """Held-out edges are split once: the solver's network sees the same training graph as the run's."""
    settings = {"task": "link", "link_objective": objective, "gic_iterations": 1}
    run = compute(**SOLVER, rounds=1, **settings)
    assert run.masks(0).edges.keep.size == run.masks(1).edges.keep.size == 2 * 4488
    assert int(run.masks(1).edges.either_way().sum()) == remaining_after(0.05, 4488, 1)


@pytest.mark.parametrize("competes", [False, True])
def test_admm_notes_edges_changed_by_the_solver(compute: Compute, competes: bool) -> None:
    run = compute(**SOLVER, rounds=1, admm_start_competes=competes)
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


def test_masks_that_do_not_nest_as_declared_are_an_error(compute: Compute, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(METHODS.get("admm")), "nested", True)
    monkeypatch.setattr("glt.methods.admm.ADMM.next_masks", lambda self, context: widened(context))
    with pytest.raises(ValueError, match="declares nested masks"):
        compute(method="admm")


def widened(context):  # noqa: ANN001, ANN201
    """Prune in round 1 and restore everything in round 2."""
    if context.round == 1:
        return METHODS.get("random").next_masks(context)
    return Proposal(context.problem.full_masks())


@pytest.mark.parametrize("schedule", ["one_run", "one_shot"])
def test_schedules_from_the_full_network_have_the_counts_of_algorithm_2(compute: Compute, schedule: str) -> None:
    run, other = compute(schedule=schedule), compute(rounds=1)
    masks = [run.masks(k) for k in range(3)]
    assert [m.edges.kept for m in masks] == [remaining_after(0.05, 2 * CORA_EDGES, k) for k in range(3)]
    assert [m.weights.kept for m in masks] == [remaining_after(0.2, WEIGHTS, k) for k in range(3)]
    assert not masks[2].edges.within(masks[1].edges)
    assert run.edge_scores(1) is None
    assert all(np.array_equal(run.weights(0)[name], value) for name, value in other.weights(0).items())
    assert audit(run, 2).passed


def test_only_the_iterative_schedule_declares_nested_masks() -> None:
    ugs = METHODS.get("ugs")
    assert ugs.nests(RunConfig())
    assert ugs.nests(resolve({}))
    assert not any(ugs.nests(resolve({"schedule": schedule})) for schedule in ("one_run", "one_shot"))
    assert METHODS.get("random").nests(RunConfig())
    assert not METHODS.get("admm").nests(RunConfig())


def test_the_default_schedule_is_not_part_of_the_run_name() -> None:
    """The name equals that of a bundled example, made before the setting existed."""
    usual, named = resolve({}), resolve({"schedule": "iterative"})
    assert usual == named
    assert "schedule" not in usual.options
    assert run_name(usual) == "cora-node-gcn-ugs-df8e8f72"
    assert len({run_name(resolve({"schedule": name})) for name in ("iterative", "one_shot", "one_run")}) == 3


def test_round_1_of_one_shot_is_that_of_the_iterative_search(compute: Compute) -> None:
    iterative, one_shot = compute(rounds=1), compute(rounds=1, schedule="one_shot", store="other")
    assert np.array_equal(iterative.edge_mask(1).keep, one_shot.edge_mask(1).keep)
    weights = zip(iterative.masks(1).weights.keep.values(), one_shot.masks(1).weights.keep.values(), strict=True)
    assert all(np.array_equal(one, other) for one, other in weights)


SMALL = {"hidden": 8, "epochs": 2, "retrain_epochs": 2, "rounds": 2}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def computed(store: Store, config: RunConfig, seeds: tuple[int, ...] = (0, 1)) -> Run:
    run = store.create(config)
    for seed in seeds:
        with run.seed(seed).lock():
            compute_rounds(run.seed(seed), Watcher())
    return run


@pytest.fixture
def source(store: Store) -> Run:
    return computed(store, resolve(SMALL))


def again(source: Run, **settings: object) -> RunConfig:
    return resolve({**SMALL, "method": "reinit", "masks_of": source.name, **settings})


def test_random_tickets_use_the_masks_of_the_same_seed_and_round(store: Store, source: Run) -> None:
    run = computed(store, again(source))
    for seed in (0, 1):
        for number in range(3):
            found, expected = run.seed(seed).masks(number), source.seed(seed).masks(number)
            assert np.array_equal(found.edges.keep, expected.edges.keep)
            for name, keep in expected.weights.keep.items():
                assert np.array_equal(found.weights.keep[name], keep)


def test_random_tickets_draws_are_distinct_and_reproducible(store: Store, source: Run) -> None:
    starts = [source, *(computed(store, again(source, draw=draw), (0,)) for draw in (0, 1))]
    weights = [run.seed(0).theta0()["layers.0.weight"] for run in starts]
    assert not any(np.array_equal(one, other) for one, other in [(weights[0], weights[1]), (weights[1], weights[2])])
    elsewhere = Store(store.root.parent / "other")
    elsewhere.root.mkdir()
    source.path.rename(elsewhere.root / source.name)
    repeated = computed(elsewhere, again(source, draw=1), (0,))
    assert np.array_equal(repeated.seed(0).theta0()["layers.0.weight"], weights[2])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"masks_of": ""}, "need a source of masks"),
        ({"hidden": 9}, "hidden is 9, but 8 in"),
        ({"rounds": 3}, "only 2 of 3 rounds"),
        ({"edge_mask": "undirected"}, "edge_mask is 'undirected', but"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    store: Store, source: Run, settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        start(store, again(source, **settings), [0])
    assert [run.name for run in store.runs()] == [source.name]


def test_omitted_options_are_compared_with_defaults(store: Store) -> None:
    source = computed(store, resolve({**SMALL, "model": "gin", "gin_last_relu": True}), (0,))
    with pytest.raises(ConfigError, match="gin_last_relu is False, but True in"):
        start(store, again(source, model="gin"), [0])
    with pytest.raises(ConfigError, match=r"Seed 7 of .* has no round"):
        start(store, again(source, model="gin", gin_last_relu=True), [0, 7])
    with pytest.raises(StoreError, match="No run 'elsewhere'"):
        start(store, again(source, masks_of="elsewhere"), [0])


def test_resuming_without_the_source_run_is_refused(store: Store, source: Run) -> None:
    run = store.create(again(source))
    run.seed(0).make()
    run.seed(0).write_status(Status(state="stopped", seed=0))
    source.path.rename(store.root.parent / "elsewhere")
    with pytest.raises(StoreError, match=f"No run '{source.name}'"):
        resume(store, run)
    assert run.seed(0).status().state == "stopped"
