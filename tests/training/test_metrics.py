"""Scores by ogb's evaluators, and the score of a guess."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import mannwhitneyu, rankdata

from glt.datasets import DATASETS, Graph, load_graph
from glt.errors import ConfigError, DataError
from glt.presets import resolve
from glt.seeds import stream
from glt.training.metrics import (
    HITS_AT,
    Chance,
    _evaluator,
    accuracy_by_chance,
    at_chance_from,
    auc_by_chance,
    evaluator_of,
    hits_by_chance,
    link_score,
    node_score,
)
from glt.training.network import Network, SoftMasks
from glt.training.problem import Mismatch, Problem, StageState
from glt.training.tasks import TASKS, metric_of
from glt.training.trainer import EpochResult, Schedule, Stage, TrainResult

CHANCE = Chance(0.3, 0.05)


def test_accuracy_is_the_share_of_correct_classes() -> None:
    truth, predicted = np.array([0, 1, 2, 3])[:, None], np.array([0, 1, 3, 3])[:, None]
    assert node_score("ogbn-arxiv", truth, predicted) == 0.75


def test_roc_auc_is_the_mean_over_tasks_with_both_classes() -> None:
    """Two tasks count: one is ordered rightly, one has half of its couples right; 110 have no positive."""
    truth, predicted = np.zeros((4, 112), dtype=np.uint8), np.zeros((4, 112), dtype=np.float32)
    truth[:, 0], predicted[:, 0] = [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]
    truth[:, 1], predicted[:, 1] = [0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4]
    assert node_score("ogbn-proteins", truth, predicted) == 0.75


def test_hits_at_50_counts_positives_above_the_50th_negative() -> None:
    false = np.arange(100, dtype=np.float32)
    assert link_score("ogbl-collab", np.array([49, 50, 51, 52], dtype=np.float32), false) == 0.5
    assert HITS_AT == _evaluator("linkproppred", "ogbl-collab").K


@pytest.mark.usefixtures("benchmark_sets")
def test_ogb_evaluator_errors_are_one_sentence() -> None:
    assert [evaluator_of(name) for name in ("ogbn-arxiv", "cora", "unknown")] == ["ogbn-arxiv", "", ""]
    with pytest.raises(DataError, match="evaluator of ogbn-proteins cannot score this run: Number of tasks"):
        node_score("ogbn-proteins", np.ones((2, 3), dtype=np.int64), np.ones((2, 3)))
    for kind, name in (("nodeproppred", "ogbn-proteins"), ("linkproppred", "ogbl-collab")):
        source = inspect.getsourcefile(_evaluator(kind, name).eval)
        assert source is not None
        assert Path(source).parts[-3:] == ("ogb", kind, "evaluate.py")


SCRIPT = """
import sys, threading
import numpy as np
from glt.training.metrics import link_score
link_score("ogbl-collab", np.ones(2, dtype="f4"), np.zeros(60, dtype="f4"))
print(threading.active_count(), *(name in sys.modules for name in ("ogb", "outdated", "torch_geometric")))
"""


def printed(code: str, path: str = "") -> list[str]:
    """Run code in a process of its own and return the words it prints."""
    folders = os.pathsep.join([path, str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": folders}
    message = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert not message.returncode, message.stderr
    return message.stdout.split()


def test_evaluators_make_no_request_and_import_no_graph_library(tmp_path: Path) -> None:
    """The `outdated` module, with which ogb looks for new versions, is installed and must not be used."""
    (tmp_path / "outdated.py").write_text("def check_outdated(*about):\n    return False, about\n")
    assert printed(SCRIPT, str(tmp_path)) == ["1", "False", "False", "False"]
    parts = "glt.cli.main, glt.presets, glt.training.tasks.node, glt.training.tasks.link"
    assert printed(f"import sys, {parts}; print('ogb' in sys.modules)") == ["False"]


@pytest.mark.parametrize(
    ("scores", "start"),
    [
        ([0.3, 0.8, 0.3, 0.35], 2),
        ([0.8, 0.8, 0.8, 0.2], None),  # a last score alone
        ([0.8, 0.2, 0.8, 0.8], None),  # it recovers
        ([0.2, 0.3, 0.1, 0.3], 0),  # never above
        ([], None),
        ([0.1], None),
    ],
)
def test_the_first_epoch_at_chance_level(scores: list[float], start: int | None) -> None:
    assert at_chance_from(np.array(scores), CHANCE) == start


def test_chance_level_of_classes_and_links() -> None:
    cora = load_graph("cora")
    chance = TASKS.get("node").chance(cora, resolve({"dataset": "cora"}))
    assert chance is not None
    shares = np.bincount(cora.labels[cora.split.val]) / cora.split.val.size
    assert chance.level == shares.max() == 0.316
    assert chance.margin == pytest.approx(1.645 * np.sqrt(0.316 * 0.684 / 500))
    # Nodes of unknown class are never right.
    unknown = accuracy_by_chance(np.array([0, 0, -1, -1]))
    assert unknown is not None
    assert unknown.level == 0.5
    assert accuracy_by_chance(np.array([-1])) is None
    chance = TASKS.get("link").chance(cora, resolve({"dataset": "cora", "task": "link"}))
    assert chance is not None
    assert chance.level == 0.5
    # 263 edges and as many pairs.
    assert chance.margin == pytest.approx(1.645 * np.sqrt(527 / (12 * 263 * 263)))


def test_chance_bound_of_roc_auc_is_exceeded_in_5_percent() -> None:
    rng, chance = np.random.default_rng(0), auc_by_chance(np.array([30]), np.array([50]))
    assert chance is not None
    drawn = [mannwhitneyu(*np.split(rng.random(80), [30])).statistic / 1500 for _ in range(4000)]
    assert np.mean(np.array(drawn) > chance.bound) == pytest.approx(0.05, abs=0.015)
    assert auc_by_chance(np.array([0]), np.array([5])) is None


def test_chance_bound_of_hits_is_exceeded_in_about_5_percent() -> None:
    rng, chance = np.random.default_rng(0), hits_by_chance(200, 999, 50)
    assert chance is not None
    thresholds = np.sort(rng.random((4000, 999)), axis=1)[:, -50]
    drawn = (rng.random((4000, 200)) > thresholds[:, None]).mean(axis=1)
    assert drawn.mean() == pytest.approx(chance.level, abs=0.002)
    assert np.mean(drawn > chance.bound) == pytest.approx(0.05, abs=0.02)
    assert hits_by_chance(200, 49, 50) is None


def search(graph: Graph, gamma: float, epochs: int = 60) -> tuple[TrainResult, list[float]]:
    """Search on a small graph; returns the result and the validation score of every epoch."""
    scores: list[float] = []
    return stage_of(graph, gamma, epochs).run(lambda result: scores.append(result.scores.val)), scores


def stage_of(graph: Graph, gamma: float, epochs: int = 60) -> Stage:
    problem = Problem(resolve({"dataset": "cora", "hidden": 8, "dropout": 0.0}), graph)
    masks = problem.full_masks()
    soft = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), "cpu")
    network = Network(problem, masks, problem.initial_weights(0), soft)
    schedule = Schedule(epochs, 0.05, 0.0, mask_learning_rate=0.05, gamma_graph=gamma, gamma_weight=gamma)
    return Stage(network, schedule, stream(0, 1, "search"))


@pytest.fixture(scope="module")
def separable() -> Graph:
    """Two classes of 40 nodes that features and edges separate."""
    from scipy.sparse import csr_array

    from glt.datasets.graph import Provenance, Split

    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 40)
    pairs = np.stack(np.triu_indices(80, 1))
    same = labels[pairs[0]] == labels[pairs[1]]
    edges = pairs[:, rng.random(pairs.shape[1]) < np.where(same, 0.12, 0.01)]
    features = (rng.random((80, 12)) < np.where(np.arange(12) < 6, 0.8, 0.1)).astype(np.float32)
    features[labels == 1] = features[labels == 1][:, ::-1]
    order = rng.permutation(80)
    split = Split(np.sort(order[:20]), np.sort(order[20:50]), np.sort(order[50:]))
    return Graph("two classes", edges, csr_array(features), labels, split, Provenance("by hand", edges.shape[1], 0, 0))


def test_too_large_a_penalty_collapses_a_search(separable: Graph) -> None:
    chance = accuracy_by_chance(separable.labels[separable.split.val])
    assert chance is not None
    result, scores = search(separable, gamma=10.0, epochs=200)
    start = at_chance_from(np.array(scores), chance)
    assert start is not None
    assert start > 0
    assert result.zero_from.keys() == {"edges", "weights"}
    # Masks reach zero at their own pace of 0.05 an epoch.
    assert result.zero_from["weights"] == pytest.approx(20, abs=3)
    assert all((values > 0).all() for name, values in result.best_tensors.items() if name.startswith("mask/"))
    assert result.best_epoch < min(result.zero_from.values())
    assert result.last_at_zero["edges"] == pytest.approx((result.last_tensors["mask/edges"] <= 0).mean())

    result, scores = search(separable, gamma=0.0)
    assert at_chance_from(np.array(scores), chance) is None
    assert result.zero_from == {}
    assert result.last_epoch == 59
    assert max(result.last_at_zero.values()) < 0.5


def test_collapse_is_detected_from_a_sample_of_a_large_tensor() -> None:
    """Of 736,000 weights of two tensors; the small one, all of it above zero, must not count for half."""
    problem = Problem(resolve({"dataset": "cora"}), load_graph("cora"))
    masks = problem.full_masks()
    soft = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), "cpu")
    network = Network(problem, masks, problem.initial_weights(0), soft)
    assert network.have_reached_zero(0.5) == []
    wide = soft.weights["layers.0.weight"].detach()
    below = np.random.default_rng(0).random(wide.shape) < 0.51
    wide[below] = -1.0
    share = below.sum() / masks.weights.kept
    assert network.shares_at_zero() == {"edges": 0.0, "weights": pytest.approx(share)}
    assert network.have_reached_zero(0.5) == ["weights"]
    assert network.have_reached_zero(0.5, known=["weights"]) == []
    assert network.have_reached_zero(share + 0.001) == []


def test_a_resumed_stage_keeps_its_collapse_record(separable: Graph) -> None:
    class Halted(Exception):
        pass

    def halt(result: EpochResult) -> None:
        if result.epoch == 30:
            raise Halted

    whole, _ = search(separable, gamma=10.0)
    begun = stage_of(separable, 10.0)
    with pytest.raises(Halted):
        begun.run(halt)
    state = begun.state().copied()
    later = stage_of(separable, 10.0)
    later.restore(state)
    result = later.run(lambda epoch: None)
    assert result.zero_from == whole.zero_from
    assert result.last_at_zero == whole.last_at_zero
    for damaged in (3, {"edges": "many"}):
        with pytest.raises(Mismatch, match="zero_from"):
            stage_of(separable, 10.0).restore(StageState(state.arrays, {**state.about, "zero_from": damaged}))


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


def test_more_clusters_than_nodes_are_refused(read: Read) -> None:
    read("ogbl-collab")
    settings = {"dataset": "ogbl-collab", "task": "link", "link_objective": "gic"}
    assert resolve({**settings, "gic_clusters": 120}).options["gic_clusters"] == 120
    with pytest.raises(ConfigError, match="gic_clusters cannot be 128: ogbl-collab has 120 nodes"):
        resolve(settings)


def test_arxiv_is_scored_by_accuracy(read: Read) -> None:
    graph = read("ogbn-arxiv")
    problem = Problem(resolve({"dataset": "ogbn-arxiv"}), graph)
    output = torch.from_numpy(np.eye(40)[np.where(np.arange(graph.num_nodes) % 3, graph.labels, 39 - graph.labels)])
    right = np.arange(graph.num_nodes) % 3 > 0
    scores = problem.task.scores(output, {})
    assert (scores.val, scores.test) == (right[graph.split.val].mean(), right[graph.split.test].mean())
    assert metric_of("ogbn-arxiv", "node") == "accuracy"


def test_proteins_are_scored_by_roc_auc_over_tasks(read: Read) -> None:
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


def test_collab_is_scored_by_hits_against_its_own_negatives(read: Read) -> None:
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
