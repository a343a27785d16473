"""The bundled graphs equal Planetoid's bit for bit, with isolated nodes and unknown classes; raw files are checked."""

from __future__ import annotations

import pickle
import shutil
import socket
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from glt.datasets import DATASETS, Graph, load_graph
from glt.datasets.bundled.build import cora_of
from glt.datasets.npz import write_graph
from glt.datasets.planetoid import BUNDLED, read_planetoid
from glt.datasets.registry import current_hash
from glt.errors import ConfigError, JobError
from glt.jobs.environment import check_data
from glt.lottery import lottery
from glt.lottery.graph import graph_of
from glt.presets import resolve
from glt.store import Store, bundled_examples
from tests.conftest import Watcher, imported_by
from tests.datasets.conftest import files_under, refused

FOLDERS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "PubMed"}


@pytest.mark.parametrize("name", FOLDERS)
def test_graphs_equal_pyg_planetoid(test_data: Path, name: str) -> None:
    """Same bits in the same order, from which a run computes the same bits."""
    bundled = load_graph(name)
    original = read_planetoid(test_data / "planetoid", FOLDERS[name], name, bundled.class_names)
    for found, expected in zip(bundled._parts(), original._parts(), strict=True):
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()
    assert bundled.content_hash == original.content_hash
    if name != "cora":  # Its table lists other rows.
        assert replace(bundled.provenance, source="") == replace(original.provenance, source="")


def test_a_run_on_the_bundled_graph_gives_the_bits_of_the_raw_files(test_data: Path, tmp_path: Path) -> None:
    """Including the two rounds of an earlier version, in which the 15 papers without class had class 0."""
    bundled = load_graph("citeseer")
    original = read_planetoid(test_data / "planetoid", "Citeseer", "citeseer", bundled.class_names)
    earlier = replace(original, labels=np.maximum(original.labels, 0))
    rounds = [rounds_on(graph, tmp_path / str(number)) for number, graph in enumerate((bundled, original, earlier))]
    assert rounds[0] == rounds[1] == rounds[2]


def rounds_on(graph: Graph, folder: Path) -> dict[str, bytes]:
    """Compute a short run on a graph and return the tensors of its rounds."""
    config = resolve({"dataset": "citeseer", "hidden": 8, "epochs": 3, "retrain_epochs": 3, "rounds": 1}, "official")
    seed_run = Store(folder).create(config).seed(0)
    with pytest.MonkeyPatch.context() as patch, seed_run.lock():
        patch.setattr(lottery, "load_graph", lambda name: graph)
        lottery.compute_rounds(seed_run, Watcher())
    found = {path.name: path.read_bytes() for path in seed_run.path.glob("*.safetensors")}
    assert {"round-01.safetensors", "weights-01.safetensors"} <= set(found)
    return found


def test_former_hashes_belong_to_the_same_graph() -> None:
    for spec in DATASETS:
        for former, now in spec.former_hashes.items():
            graph = load_graph(spec.name)
            assert graph.content_hash == now == current_hash(former)
            assert replace(graph, labels=np.maximum(graph.labels, 0)).content_hash == former
            assert graph.has_content(former)
            assert not graph.has_content(load_graph("cora").content_hash)


def test_a_seed_with_a_former_hash_resumes(tmp_path: Path) -> None:
    seed = Store(tmp_path).create(resolve({"dataset": "citeseer", "rounds": 1})).seed(0)
    now = load_graph("citeseer").content_hash
    seed.make()
    for former in DATASETS.get("citeseer").former_hashes:
        seed.write_environment({"data_hash": former})
        assert seed.data_hash() == now
        check_data(seed, seed.environment(), now)
        with pytest.raises(JobError, match="has changed since seed 0"):
            check_data(seed, {"data_hash": "0" * 64}, now)


@pytest.mark.parametrize("name", [run.name for run in bundled_examples()])
def test_bundled_graphs_open_offline(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_DATA", str(tmp_path))
    monkeypatch.setattr(socket, "socket", lambda *_, **__: pytest.fail("the network was asked"))
    load_graph.cache_clear()
    (run,) = [run for run in bundled_examples() if run.name == name]
    seed = run.existing_seed(None)
    graph = graph_of(seed)
    assert seed.edge_mask(0).num_edges == graph.num_edges


def test_bundled_files_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in BUNDLED.glob("*.npz")}
    assert set(sizes) == {"cora.npz", "citeseer.npz", "pubmed.npz"}
    assert sizes["cora.npz"] < 100_000
    assert sum(sizes.values()) < 5_000_000


def test_bundled_graphs_are_read_without_torch() -> None:
    code = f"from glt.datasets import load_graph\nfor name in {list(FOLDERS)}:\n    load_graph(name)"
    assert imported_by(code, "torch torch_geometric pandas") == set()


# Sizes of the named classes where the sets were first published (LINQS).
CLASS_SIZES = {
    "cora": {
        "Theory": 351,
        "Reinforcement Learning": 217,
        "Genetic Algorithms": 418,
        "Neural Networks": 818,
        "Probabilistic Methods": 426,
        "Case-Based Reasoning": 298,
        "Rule Learning": 180,
    },
    "citeseer": {
        "Agents": 596,
        "Artificial Intelligence": 249,
        "Databases": 701,
        "Information Retrieval": 668,
        "Machine Learning": 590,
        "Human-Computer Interaction": 508,
    },
}


@pytest.mark.parametrize("name", CLASS_SIZES)
def test_class_names_follow_planetoid_numbers(name: str) -> None:
    graph = load_graph(name)
    sizes = np.bincount(graph.labels[graph.labels >= 0])
    assert dict(zip(graph.class_names, sizes.tolist(), strict=True)) == CLASS_SIZES[name]


def test_the_build_script_reproduces_bundled_files(tmp_path: Path) -> None:
    """Reconstruct shuffled tables from the bundled graph and let the script build the graph again."""
    graph = load_graph("cora")
    ids = np.array(graph.node_ids, dtype=np.int64)
    subjects = {str(number): label for number, label in enumerate((3, 6, 1, 4, 0, 2, 5))}
    subject_of = {label: int(number) for number, label in subjects.items()}
    papers = pd.DataFrame({"subject": graph.labels, "features": list(graph.features.toarray())}, index=ids)
    papers = papers.replace({"subject": subject_of}).sample(frac=1, random_state=0)
    # The published table lists 151 citations both ways.
    source, target = np.concatenate([graph.edges[::-1], graph.edges[:, :151]], axis=1)
    citations = pd.DataFrame({"sourceNodeId": ids[source], "targetNodeId": ids[target]}).sample(frac=1, random_state=0)
    order = {
        "paper_id": ids.tolist(),
        "subject_to_planetoid_class": subjects,
        "public_split": {"train": [0, 139], "val": [140, 639], "test": [1708, 2707]},
    }
    write_graph(tmp_path / "cora.npz", cora_of(papers, citations, order))
    # Not the bytes: zip headers differ between versions of Python and NumPy.
    with np.load(tmp_path / "cora.npz") as made, np.load(BUNDLED / "cora.npz") as bundled:
        assert made.files == bundled.files
        for name in bundled.files:
            assert made[name].dtype == bundled[name].dtype
            assert np.array_equal(made[name], bundled[name]), name


# Raw rows, duplicates and self-loops dropped; nodes without edges; rows without features.
FACTS = {"cora": ((5429, 151, 0), 0, 0), "citeseer": ((4732, 56, 124), 48, 15), "pubmed": ((44338, 11, 3), 0, 0)}
SPLITS = {"cora": (140, 500, 1000), "citeseer": (120, 500, 1000), "pubmed": (60, 500, 1000)}
COUNTS = {"cora": (2708, 5278, 1433, 7), "citeseer": (3327, 4552, 3703, 6), "pubmed": (19717, 44324, 500, 3)}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_facts_and_splits(name: str) -> None:
    spec = DATASETS.get(name)
    graph = spec.load()
    assert spec.bundled
    counts = graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes
    assert counts == COUNTS[name] == (spec.nodes, spec.edges, spec.features, spec.classes)
    assert graph.split.train.size == spec.trained

    rows, isolated, empty = FACTS[name]
    source = graph.provenance
    assert (source.raw_rows, source.duplicates_dropped, source.self_loops_dropped) == rows
    assert graph.num_nodes - np.unique(graph.edges).size == isolated
    assert int((np.diff(graph.features.indptr) == 0).sum()) == empty

    parts = list(vars(graph.split).values())
    assert tuple(part.size for part in parts) == SPLITS[name]
    assert np.unique(np.concatenate(parts)).size == sum(SPLITS[name])
    assert all((np.diff(part) > 0).all() for part in parts)
    assert len(graph.class_names) == graph.num_classes


def test_citeseer_papers_in_no_table_have_only_edges() -> None:
    graph = DATASETS.get("citeseer").load()
    wordless = np.flatnonzero(np.diff(graph.features.indptr) == 0)
    assert wordless.size == 15
    assert np.array_equal(np.flatnonzero(graph.labels == -1), wordless)
    assert np.isin(wordless, graph.edges).all()
    assert not np.isin(wordless, np.concatenate([graph.split.train, graph.split.val, graph.split.test])).any()


def test_graphs_are_cached_and_unknown_names_get_a_suggestion() -> None:
    assert load_graph("cora") is load_graph("cora")
    with pytest.raises(ConfigError, match="Unknown data set 'coar': did you mean 'cora'"):
        load_graph("coar")


FILES = [f"ind.citeseer.{part}" for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")]


@pytest.fixture
def raw(tmp_path: Path, test_data: Path) -> Path:
    """The folder of Citeseer's published raw files, copied so that a test may change them."""
    raw = tmp_path / "Citeseer" / "raw"
    raw.mkdir(parents=True)
    for file in FILES:
        shutil.copyfile(test_data / "planetoid" / "Citeseer" / "raw" / file, raw / file)
    return raw


def refusal(root: Path) -> str:
    return refused(lambda: read_planetoid(root, "Citeseer", "citeseer", ()))


def test_tampered_files_are_refused_before_opening(raw: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, (f"open({str(tmp_path / 'opened')!r}, 'w')",))

    (raw / "ind.citeseer.graph").write_bytes(pickle.dumps(Trap()))
    assert f"{raw / 'ind.citeseer.graph'} is not the published file" in refusal(tmp_path)
    assert not (tmp_path / "opened").exists()


def test_a_missing_file_names_its_source(raw: Path, tmp_path: Path) -> None:
    (raw / "ind.citeseer.tx").unlink()
    message = refusal(tmp_path)
    assert f"{raw / 'ind.citeseer.tx'} is missing: download the raw files of Citeseer from https://" in message
    assert str(raw) in message


def test_papers_outside_the_test_index_have_no_class(raw: Path, tmp_path: Path) -> None:
    graph = read_planetoid(tmp_path, "Citeseer", "citeseer", ())
    listed = {int(line) for line in (raw / "ind.citeseer.test.index").read_text().split()}
    missing = sorted(set(range(min(listed), max(listed) + 1)) - listed)
    assert len(missing) == 15
    assert np.flatnonzero(graph.labels == -1).tolist() == missing
    assert graph.num_classes == 6
    assert files_under(tmp_path) == {"Citeseer", "Citeseer/raw", *(f"Citeseer/raw/{file}" for file in FILES)}
