"""The deep network on samples in OGB's layout, read by the real loaders: exact counts, audits, ogb's own scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glt.datasets import Graph, registry
from glt.lottery.audit import audit
from glt.lottery.lottery import retrain_schedule
from glt.masks import remaining_after
from glt.presets import resolve
from glt.seeds import stream
from glt.sparse import GraphOperator, features_of
from glt.store import SeedRun
from glt.training.batching import forward
from glt.training.network import Network
from glt.training.problem import Problem
from glt.training.tasks import metric_of
from glt.training.trainer import train

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
def test_two_rounds_remove_their_share_and_pruned_means_gone(
    compute: Callable[..., SeedRun], dataset: str, method: str
) -> None:
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
def test_scores_are_those_of_ogbs_evaluator(compute: Callable[..., SeedRun], dataset: str) -> None:
    """The recorded test score is what an Evaluator made here says of the stored weights."""
    run = compute(**{**SMALL, **SETS[dataset], "rounds": 1}, dataset=dataset, method="random")
    problem = Problem(run.config, registry.load_graph(dataset))
    weights = {name: torch.from_numpy(value) for name, value in run.weights(1).items()}
    operator = GraphOperator(problem.graph, run.masks(1).edges)
    output = forward(run.config, operator, features_of(problem.graph), weights)
    assert run.record(1).test == pytest.approx(EVALUATED[dataset](problem.graph, output, weights), abs=1e-6)


def _accuracy(graph: Graph, output: torch.Tensor, weights: Any) -> float:
    from ogb.nodeproppred import Evaluator

    nodes = graph.split.test
    predicted = output[nodes].argmax(1).numpy()[:, None]
    return float(Evaluator("ogbn-arxiv").eval({"y_true": graph.labels[nodes][:, None], "y_pred": predicted})["acc"])


def _roc_auc(graph: Graph, output: torch.Tensor, weights: Any) -> float:
    from ogb.nodeproppred import Evaluator

    assert graph.targets is not None
    nodes = graph.split.test
    pair = {"y_true": graph.targets[nodes], "y_pred": output[nodes].numpy()}
    return float(Evaluator("ogbn-proteins").eval(pair)["rocauc"])


def _hits(graph: Graph, output: torch.Tensor, weights: dict[str, torch.Tensor]) -> float:
    from ogb.linkproppred import Evaluator

    assert graph.links is not None

    def scored(pairs: np.ndarray[Any, Any]) -> torch.Tensor:
        rows = output[pairs[0]] * output[pairs[1]]
        maps = sorted(name for name in weights if "predictor" in name and name.endswith("weight"))
        for place, name in enumerate(maps):
            rows = (rows.relu() if place else rows) @ weights[name] + weights[name.replace("weight", "bias")]
        return rows.squeeze(1)

    pair = {"y_pred_pos": scored(graph.links.test), "y_pred_neg": scored(graph.links.test_negatives)}
    return float(Evaluator("ogbl-collab").eval(pair)["hits@50"])


EVALUATED: dict[str, Callable[..., float]] = {
    "ogbn-arxiv": _accuracy,
    "ogbn-proteins": _roc_auc,
    "ogbl-collab": _hits,
}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here; the CPU path is tested above")
@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("dataset", SETS)
def test_the_same_config_trains_on_cuda(dataset: str) -> None:
    config = resolve({**SMALL, "dataset": dataset, **SETS[dataset]})
    problem = Problem(config, registry.load_graph(dataset), "cuda")
    network = Network(problem, problem.full_masks(), problem.initial_weights(0))
    losses: list[float] = []
    train(network, retrain_schedule(config), stream(0, 0, "retrain"), lambda result: losses.append(result.loss))
    assert np.isfinite(losses).all()
