"""A folder in OGB's layout, made of the real structure and synthetic features: whole files that the loader takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.arxiv_layout import Papers, make_layout, part, synthetic_features, write_layout
from glt.datasets import DATASETS
from glt.errors import DataError


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


def test_the_loader_reads_what_was_written(root: Path, papers: Papers) -> None:
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


def test_equal_seeds_write_equal_bytes(tmp_path: Path, papers: Papers) -> None:
    for name in ("one", "other"):
        write_layout(tmp_path / name, papers, np.random.default_rng(3))
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert len(files) == 11
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


def test_features_are_class_means_and_noise_of_the_recipe() -> None:
    labels = np.repeat([0, 1], 4000)
    features = synthetic_features(labels, np.random.default_rng(1))
    assert features.shape == (8000, 128)
    assert features[:4000].std(axis=0).mean() == pytest.approx(0.35, abs=0.005)
    assert features.reshape(2, 4000, 128).mean(axis=1).std() == pytest.approx(0.12, abs=0.02)


def test_a_part_has_the_nodes_asked_for_and_the_links_among_them(papers: Papers) -> None:
    nodes = part(papers.citations, 0.25, np.random.default_rng(0))
    assert nodes.size == 15
    assert (np.diff(nodes) > 0).all()
    among = papers.among(nodes)
    assert (among.citations.toarray() == papers.citations.toarray()[np.ix_(nodes, nodes)]).all()
    assert among.years.tolist() == papers.years[nodes].tolist()


@pytest.mark.parametrize("share", [0.5, 0.125])
def test_edges_of_a_part_go_down_in_step_with_its_nodes(test_data: Path, root: Path, share: float) -> None:
    from benchmarks.arxiv_layout import counts, read_structure

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
