"""The three sets of the benchmark from sample files: what is trained, what is scored, and by whom."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import rankdata

from glt.datasets import DATASETS, Graph
from glt.errors import ConfigError
from glt.presets import resolve
from glt.training.problem import Problem
from glt.training.tasks import metric_of

Read = Callable[[str], Graph]


@pytest.fixture
def read(test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read a set from a copy of its sample files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GLT_DATA", str(tmp_path))

    def read(name: str) -> Graph:
        folder = name.replace("-", "_")
        shutil.copytree(test_data / "ogb_sample" / folder, tmp_path / "ogb" / folder)
        return DATASETS.get(name).load()

    return read


def test_more_clusters_than_nodes_at_hand_are_refused_before_a_run_is_made(read: Read) -> None:
    read("ogbl-collab")
    settings = {"dataset": "ogbl-collab", "task": "link", "link_objective": "gic"}
    assert resolve({**settings, "gic_clusters": 120}).options["gic_clusters"] == 120
    with pytest.raises(ConfigError, match="gic_clusters cannot be 128: ogbl-collab has 120 nodes"):
        resolve(settings)


def test_arxiv_is_scored_by_the_share_of_right_subjects(read: Read) -> None:
    graph = read("ogbn-arxiv")
    problem = Problem(resolve({"dataset": "ogbn-arxiv"}), graph)
    output = torch.from_numpy(np.eye(40)[np.where(np.arange(graph.num_nodes) % 3, graph.labels, 39 - graph.labels)])
    right = np.arange(graph.num_nodes) % 3 > 0
    scores = problem.task.scores(output, {})
    assert (scores.val, scores.test) == (right[graph.split.val].mean(), right[graph.split.test].mean())
    assert metric_of("ogbn-arxiv", "node") == "accuracy"


def test_proteins_are_scored_by_their_tasks_not_their_species(read: Read) -> None:
    graph = read("ogbn-proteins")
    assert graph.targets is not None
    problem = Problem(resolve({"dataset": "ogbn-proteins"}), graph)
    output = np.random.default_rng(0).normal(size=graph.targets.shape).astype(np.float32)
    scores = problem.task.scores(torch.from_numpy(output), {})
    expected = [mean_auc(graph.targets[nodes], output[nodes]) for nodes in (graph.split.val, graph.split.test)]
    np.testing.assert_allclose([scores.val, scores.test], expected)
    assert metric_of("ogbn-proteins", "node") == "ROC-AUC"
    assert problem.specs[-1].shape == (512, 112)


def mean_auc(truth: np.ndarray, scores: np.ndarray) -> float:
    """Mann and Whitney's U over the couples, task by task, of tasks that have both kinds."""
    ranks, positives = rankdata(scores, axis=0), truth.sum(axis=0, dtype=np.int64)
    both = (positives > 0) & (positives < len(truth))
    below = (ranks * truth).sum(axis=0) - positives * (positives + 1) / 2
    return float((below[both] / (positives * (len(truth) - positives))[both]).mean())


def test_collab_is_scored_against_its_own_pairs(read: Read) -> None:
    """A pair's score is that of its first node here, so that hits can be counted by hand."""
    graph = read("ogbl-collab")
    assert graph.links is not None
    problem = Problem(resolve({"dataset": "ogbl-collab", "task": "link", "hidden": 2}), graph)
    assert problem.graph is graph
    scored = np.random.default_rng(0).normal(size=graph.num_nodes).astype(np.float32)
    problem.task._objective.scores = lambda output, weights, pairs: output[pairs[0]]  # type: ignore[attr-defined]
    scores = problem.task.scores(torch.from_numpy(scored), {})
    for found, true, false in (
        (scores.val, graph.links.val, graph.links.val_negatives),
        (scores.test, graph.links.test, graph.links.test_negatives),
    ):
        assert found == pytest.approx((scored[true[0]] > np.sort(scored[false[0]])[-50]).mean())
    assert metric_of("ogbl-collab", "link") == "Hits@50"
