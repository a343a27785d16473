"""Algorithm 2: nesting, rewinding, resuming to the same bytes, on every model and data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glt.config import RunConfig
from glt.datasets import Graph, load_graph, registry
from glt.lottery.audit import audit
from glt.lottery.lottery import Stopped, epochs_before, retrain_schedule
from glt.masks import remaining_after
from glt.methods import METHODS
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import GraphOperator, features_of
from glt.store import SeedRun
from glt.training.batching import forward
from glt.training.network import Network
from glt.training.problem import Problem
from glt.training.tasks import metric_of
from glt.training.trainer import Stage
from tests.conftest import Compute, Watcher

CORA_EDGES = 5278
WEIGHTS = 1433 * 16 + 16 * 7
# Random tickets start from another draw and have separate tests.
SEARCHING = [method.name for method in METHODS if method.initialisation(RunConfig(method=method.name)) == 0]
TINY = {"hidden": 16, "epochs": 2, "retrain_epochs": 2, "rounds": 2}
ADMM = {"method": "admm", "admm_iterations": 3, "admm_steps": 2}
# Fewer clusters than by default: their number changes no step of the computation, only how long it takes.
LINK = {"task": "link", "gic_clusters": 8, "gic_iterations": 1}


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


STOPS = [
    *(
        ({**(ADMM if name == "admm" else {"method": name}), "rounds": 1}, stop)
        for name in SEARCHING
        for stop in (3, 8, 11)
    ),
    # In a search, and after a round.
    *(({"schedule": "one_run"}, stop) for stop in (8, 20)),
    *(
        (
            {
                **LINK,
                **(ADMM if name == "admm" else {"method": name}),
                "link_objective": objective,
                **TINY,
                "rounds": 1,
            },
            3,
        )
        for name in ("ugs", "random", "admm", "score")
        for objective in ("gic", "bce")
    ),
]


@pytest.mark.parametrize(("settings", "stop_after"), STOPS, ids=str)
def test_stopped_and_resumed_gives_the_same_bytes(compute: Compute, settings: dict[str, Any], stop_after: int) -> None:
    whole = compute(store="whole", **settings)
    with pytest.raises(Stopped):
        compute(store="cut", observer=Watcher(stop_after), **settings)
    resumed = compute(store="cut", **settings)
    assert tensor_bytes(resumed) == tensor_bytes(whole)
    assert (resumed.path / "events.jsonl").read_bytes() == (whole.path / "events.jsonl").read_bytes()
    without_seconds = [record.model_dump(exclude={"seconds"}) for record in whole.rounds()]
    assert [record.model_dump(exclude={"seconds"}) for record in resumed.rounds()] == without_seconds


def test_more_rounds_extend_a_run(compute: Compute) -> None:
    compute(store="grown", rounds=1)
    grown = compute(store="grown", rounds=2)
    assert len(grown.rounds()) == 3
    assert tensor_bytes(grown) == tensor_bytes(compute(store="at once", rounds=2))


def test_progress_covers_every_epoch_and_ends_at_one(compute: Compute) -> None:
    watcher = Watcher()
    run = compute(observer=watcher)
    fractions = [progress.fraction for progress in watcher.seen]
    assert fractions[-1] == 1
    assert fractions == sorted(fractions)
    assert len(fractions) == epochs_before(run.config, 3) == len(run.events()[0])


def test_pruned_weights_are_exactly_zero_in_the_store(compute: Compute) -> None:
    run = compute()
    for name, keep in run.masks(2).weights.keep.items():
        assert not run.weights(2)[name][~keep].any()


TRAINING_EDGES = {"cora": 4488, "citeseer": 3870, "pubmed": 37676}


@pytest.fixture
def data_root(test_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference data as data root."""
    monkeypatch.setenv("GLT_DATA", str(test_data))


@pytest.mark.usefixtures("data_root")
@pytest.mark.parametrize("task", ["node", "link"])
@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed"])
@pytest.mark.parametrize("model", ["gcn", "gin", "gat"])
def test_two_rounds_are_computed_and_audited(compute: Compute, model: str, dataset: str, task: str) -> None:
    options: dict[str, Any] = {"gat": {"hidden": 8, "gat_heads": 2}}.get(model, {})
    values = {**TINY, "model": model, "dataset": dataset, **options, **(LINK if task == "link" else {})}
    run = compute(preset="official", **values)
    rounds = run.rounds()
    assert [record.round for record in rounds] == [0, 1, 2]
    assert all(0 < record.test <= 1 for record in rounds)
    edges = TRAINING_EDGES[dataset] if task == "link" else load_graph(dataset).num_edges
    assert run.masks(2).edges.kept == remaining_after(0.05, 2 * edges, 2)
    assert rounds[2].macs["dense_features"] < rounds[0].macs["dense_features"]
    for number in (0, 2):
        report = audit(run, number)
        assert report.passed
        assert report.test == pytest.approx(report.recorded_test, abs=0.01)


SMALL = {"model": "resgcn", "layers": 3, "hidden": 8, "rounds": 2, "epochs": 2, "retrain_epochs": 3}
SETS = {
    "ogbn-arxiv": {"task": "node"},
    "ogbn-proteins": {"task": "node", "batch_clusters": 3, "batch_clusters_eval": 2, "cluster_steps": 1},
    "ogbl-collab": {"task": "link"},
}
METRICS = {"ogbn-arxiv": "accuracy", "ogbn-proteins": "ROC-AUC", "ogbl-collab": "Hits@50"}


@pytest.fixture
def samples(test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The samples as data root, with a cache of the test's own, and no graph remembered from another root."""
    monkeypatch.setenv("GLT_DATA", str(test_data / "ogb_sample"))
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))
    registry.load_graph.cache_clear()
    yield
    registry.load_graph.cache_clear()


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("dataset", SETS)
@pytest.mark.parametrize("method", ["ugs", "random"])
def test_audit_passes_on_ogb(compute: Compute, dataset: str, method: str) -> None:
    run = compute(**SMALL, dataset=dataset, method=method, **SETS[dataset])
    full = run.masks(0)
    for number in (1, 2):
        masks = run.masks(number)
        assert masks.edges.kept == remaining_after(0.05, full.edges.keep.size, number)
        assert masks.weights.kept == remaining_after(0.2, full.weights.total, number)
        assert masks.within(run.masks(number - 1))
    report = audit(run, 2)
    assert report.passed
    assert report.edge_entries_deleted > 0
    assert report.test == pytest.approx(report.recorded_test, abs=1e-3)
    assert metric_of(dataset, run.config.task) == METRICS[dataset]


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("dataset", SETS)
def test_recorded_scores_equal_ogbs_evaluator(compute: Compute, dataset: str) -> None:
    """The recorded test score is what an Evaluator made here says of the stored weights."""
    run = compute(**{**SMALL, **SETS[dataset], "rounds": 1}, dataset=dataset, method="random")
    problem = Problem(run.config, registry.load_graph(dataset))
    weights = {name: torch.from_numpy(value) for name, value in run.weights(1).items()}
    operator = GraphOperator(problem.graph, run.masks(1).edges)
    output = forward(run.config, operator, features_of(problem.graph), weights)
    assert run.record(1).test == pytest.approx(evaluated(dataset, problem.graph, output, weights), abs=1e-6)


def evaluated(dataset: str, graph: Graph, output: torch.Tensor, weights: dict[str, torch.Tensor]) -> float:
    from ogb.linkproppred import Evaluator as LinkEvaluator
    from ogb.nodeproppred import Evaluator

    if graph.links is None:
        of_test, true = output[graph.split.test], graph.labels[:, None] if graph.targets is None else graph.targets
        predicted = of_test.argmax(1).numpy()[:, None] if graph.targets is None else of_test.numpy()
        (score,) = Evaluator(dataset).eval({"y_true": true[graph.split.test], "y_pred": predicted}).values()
        return float(score)

    def scored(pairs: np.ndarray[Any, Any]) -> torch.Tensor:
        rows = output[pairs[0]] * output[pairs[1]]
        maps = sorted(name for name in weights if "predictor" in name and name.endswith("weight"))
        for place, name in enumerate(maps):
            rows = (rows.relu() if place else rows) @ weights[name] + weights[name.replace("weight", "bias")]
        return rows.squeeze(1)

    pair = {"y_pred_pos": scored(graph.links.test), "y_pred_neg": scored(graph.links.test_negatives)}
    return float(LinkEvaluator(dataset).eval(pair)["hits@50"])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here; the CPU path is tested above")
@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("dataset", SETS)
def test_the_same_config_trains_on_cuda(dataset: str) -> None:
    config = resolve({**SMALL, "dataset": dataset, **SETS[dataset]})
    problem = Problem(config, registry.load_graph(dataset), "cuda")
    network = Network(problem, problem.full_masks(), problem.initial_weights(0))
    losses: list[float] = []
    Stage(network, retrain_schedule(config), stream(0, 0, "retrain")).run(lambda result: losses.append(result.loss))
    assert np.isfinite(losses).all()
