"""Timed code: bare epochs and other formulations train as the engine does; whole runs; synthetic OGB data."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from benchmarks import runs
from benchmarks.arxiv import Papers, make_layout, part, synthetic_features, write_layout
from benchmarks.bare_epoch import IMPLEMENTATIONS, SPARSE_PRODUCTS, BareEpoch, SeenEpoch, pattern_of
from benchmarks.epochs import MaskedSearch, authors_search, dense_search
from benchmarks.floors import arrays_of, schedule
from benchmarks.runs import Taken, _results, run_once
from glt.config import RunConfig
from glt.datasets import DATASETS, load_graph
from glt.datasets.graph import Graph
from glt.errors import DataError, JobError
from glt.presets import resolve
from glt.seeds import stream
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.trainer import EpochResult, Stage

EPOCHS = 4
# Each kernel by another implementation, so that all of them stand in an epoch once.
CHOSEN = dict(zip(SPARSE_PRODUCTS, itertools.cycle(IMPLEMENTATIONS), strict=False))


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize("width", [3, 160])
def test_sparse_products_equal_dense_products(name: str, width: int) -> None:
    generator = np.random.default_rng(0)
    numbers = random_array((40, 1100), density=0.02, rng=generator, dtype=np.float32).toarray()
    numbers[7] = 0
    matrix = csr_array(numbers)
    dense = torch.from_numpy(generator.random((1100, width), dtype=np.float32))
    found = IMPLEMENTATIONS[name](pattern_of(matrix))(dense)
    torch.testing.assert_close(found, torch.from_numpy(numbers) @ dense, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", [BareEpoch, SeenEpoch])
@pytest.mark.parametrize("soft", [True, False], ids=["search", "retrain"])
def test_bare_epochs_train_as_the_engine_does(soft: bool, kind: type[BareEpoch]) -> None:
    problem = Problem(resolve({"dataset": "cora", "hidden": 16}, "official"), load_graph("cora"))
    theta, masks = problem.initial_weights(0), problem.full_masks()
    start = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), "cpu") if soft else None
    bare = kind(problem, theta, arrays_of(start), stream(0, 1, "search"), CHOSEN)
    losses, scores = [], []
    for _ in range(EPOCHS):
        for kernel in bare.kernels():
            kernel.run()
        losses.append(float(bare.loss))
        scores.append(bare.scores)
    network, results = Network(problem, masks, theta, start), list[EpochResult]()
    trained = Stage(network, schedule(problem, EPOCHS), stream(0, 1, "search")).run(results.append)
    assert losses == pytest.approx([result.loss for result in results], abs=1e-5)
    assert np.allclose(scores, [(result.scores.val, result.scores.test) for result in results], atol=0.003)
    found = [*bare.weights, *([bare.edge_mask, *bare.masks] if soft else [])]
    for tensor, expected in zip(found, trained.last_tensors.values(), strict=True):
        np.testing.assert_allclose(tensor.numpy(), expected, atol=2e-4)


Made = Callable[[Graph, RunConfig], MaskedSearch]


def trained(make: Made, graph: Graph) -> list[torch.Tensor]:
    config = resolve({"hidden": 4}, "official").model_copy(update={"dropout": 0.0})
    torch.manual_seed(0)
    search = make(graph, config)
    for _ in range(3):
        search.epoch()
    return [tensor.detach() for tensor in [*search._weights, *search._masks]]


def test_products_with_diagonal_matrices_train_as_broadcasting_does(small_graph: Graph) -> None:
    for found, expected in zip(trained(authors_search, small_graph), trained(dense_search, small_graph), strict=True):
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_worker_cpu_seconds_and_rounds_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = run_once("cora", [0], {"rounds": 1, "epochs": 2, "retrain_epochs": 2, "hidden": 4})
    assert taken.cpu > 0
    assert 0 < taken.rounds[0] < taken.wall
    monkeypatch.setattr(runs.sys, "executable", "/bin/false")
    with pytest.raises(JobError, match="exit code 1"):
        run_once("cora", [0], {"rounds": 1})


def test_two_seeds_are_compared_with_one() -> None:
    turns = [(Taken(10, 12, (11.0,)), Taken(24, 15, (12.1, 11.5)))]
    values = {each.name.rpartition("/")[2]: each.value for each in _results("parallel/cora", turns)}
    assert values == {
        "one seed": 11.0,
        "two seeds side by side": 12.1,
        "two over one": 1.1,
        "two over one, CPU seconds a seed": 1.2,
    }


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GLT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


@pytest.fixture
def papers() -> Papers:
    """Sixty papers, each citing the three before it, of three classes and years."""
    later = np.repeat(np.arange(3, 60), 3)
    earlier = later - np.tile([1, 2, 3], 57)
    citations = csr_array((np.ones(later.size, dtype=np.bool_), (later, earlier)), shape=(60, 60))
    return Papers(citations, np.arange(60) % 3, np.repeat([2017, 2018, 2020], 20))


def test_the_loader_reads_the_synthetic_data(root: Path, papers: Papers) -> None:
    write_layout(root / "ogbn_arxiv", papers, np.random.default_rng(0))
    graph = DATASETS.get("ogbn-arxiv").load()
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (60, 171, 128)
    assert graph.labels.tolist() == papers.labels.tolist()
    assert [part.tolist() for part in vars(graph.split).values()] == [
        list(range(20)),
        list(range(20, 40)),
        list(range(40, 60)),
    ]
    features = synthetic_features(papers.labels, np.random.default_rng(0))
    np.testing.assert_allclose(graph.features, features, atol=5.1e-5)
    assert "synthetic" in (root / "ogbn_arxiv" / "README.txt").read_text()


def test_synthetic_features_follow_the_recipe() -> None:
    features = synthetic_features(np.repeat([0, 1], 4000), np.random.default_rng(1))
    assert features.shape == (8000, 128)
    assert features[:4000].std(axis=0).mean() == pytest.approx(0.35, abs=0.005)
    assert features.reshape(2, 4000, 128).mean(axis=1).std() == pytest.approx(0.12, abs=0.02)


def test_equal_seeds_write_equal_bytes(tmp_path: Path, papers: Papers) -> None:
    for name in ("one", "other"):
        write_layout(tmp_path / name, papers, np.random.default_rng(3))
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert len(files) == 11
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


def test_a_part_has_the_requested_nodes_and_their_links(papers: Papers) -> None:
    nodes = part(papers.citations, 0.25, np.random.default_rng(0))
    assert nodes.size == 15
    assert (np.diff(nodes) > 0).all()
    among = papers.among(nodes)
    assert (among.citations.toarray() == papers.citations.toarray()[np.ix_(nodes, nodes)]).all()
    assert among.years.tolist() == papers.years[nodes].tolist()


@pytest.mark.parametrize("share", [0.5, 0.125])
def test_edges_of_a_part_scale_with_its_nodes(test_data: Path, root: Path, share: float) -> None:
    from benchmarks.arxiv import counts, read_structure

    papers = read_structure(test_data / "arxiv_structure")
    whole = counts(papers)
    assert (whole["nodes"], whole["citations"], whole["edges"]) == (169_343, 1_166_243, 1_157_799)
    found = counts(papers.among(part(papers.citations, share, np.random.default_rng(0))))
    assert found["nodes"] == round(share * 169_343)
    assert found["mean_degree"] == pytest.approx(whole["mean_degree"], rel=0.05)
    assert found["homophily"] == pytest.approx(whole["homophily"], abs=0.02)


def test_the_command_writes_a_small_part(test_data: Path, root: Path) -> None:
    words = ["--structure", str(test_data / "arxiv_structure"), "--out", str(root), "--share", "0.002"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "arxiv-layout", *words], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    graph = DATASETS.get("ogbn-arxiv").load()
    assert (graph.num_nodes, graph.num_edges) == (found["nodes"], found["edges"]) == (339, found["edges"])
    assert [part.size for part in vars(graph.split).values()] == list(found["split"].values())


def test_a_folder_without_the_structure_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"adjacency_csr\.npz is missing"):
        make_layout(["--structure", str(tmp_path), "--out", str(tmp_path)])
