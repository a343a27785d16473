"""The bundled graphs are Planetoid's to the bit, are read without torch, and their script makes what is bundled."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from glt.data import DATASETS, Graph, load_graph
from glt.data.archive import write_graph
from glt.data.bundled.build import FOLDER, cora_of
from glt.data.cora import BUNDLED_FILE
from glt.data.planetoid import read_planetoid
from glt.data.registry import current_hash
from glt.errors import JobError
from glt.jobs.environment import check_data
from glt.lottery import lottery
from glt.lottery.graph import graph_of
from glt.presets import resolve
from glt.store import Store, bundled_examples

FOLDERS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "PubMed"}


@pytest.mark.parametrize("name", FOLDERS)
def test_it_equals_planetoid(test_data: Path, name: str) -> None:
    bundled = load_graph(name)
    original = read_planetoid(test_data / "planetoid", FOLDERS[name], name, bundled.class_names)
    assert same_arrays(bundled, original)
    assert bundled.class_names == original.class_names
    assert bundled.content_hash == original.content_hash
    numbers = ("raw_rows", "duplicates_dropped", "self_loops_dropped")
    if name != "cora":  # Its table lists other rows.
        assert [getattr(bundled.provenance, each) for each in numbers] == [
            getattr(original.provenance, each) for each in numbers
        ]


def same_arrays(one: Graph, other: Graph) -> bool:
    """Whether two graphs hold the same bits in the same order, from which a run computes the same bits."""
    ones, others = parts(one), parts(other)
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(ones, others, strict=True))


def parts(graph: Graph) -> list[NDArray[Any]]:
    features, split = graph.sparse_features, graph.split
    return [
        graph.edges, graph.labels, features.indptr, features.indices, features.data, split.train, split.val, split.test
    ]  # fmt: skip


def test_a_run_on_the_bundled_graph_gives_the_bits_of_the_raw_files(test_data: Path, tmp_path: Path) -> None:
    """Among them the two rounds that an earlier version gives, whose 15 papers of no class had class 0."""
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
        lottery.find_tickets(seed_run, Nobody())
    found = {path.name: path.read_bytes() for path in seed_run.path.glob("*.safetensors")}
    assert {"round-01.safetensors", "weights-01.safetensors"} <= set(found)
    return found


class Nobody:
    """An observer who never stops a run."""

    def on_progress(self, progress: object) -> None:
        pass

    def should_stop(self) -> bool:
        return False


def test_former_hashes_are_those_of_the_same_graph_with_the_labels_of_then() -> None:
    for spec in DATASETS:
        for former, now in spec.former_hashes.items():
            graph = load_graph(spec.name)
            assert graph.content_hash == now == current_hash(former)
            assert replace(graph, labels=np.maximum(graph.labels, 0)).content_hash == former
            assert graph.has_content(former)
            assert not graph.has_content(load_graph("cora").content_hash)


def test_a_seed_that_recorded_a_former_hash_goes_on(tmp_path: Path) -> None:
    seed = Store(tmp_path).create(resolve({"dataset": "citeseer", "rounds": 1})).seed(0)
    now = load_graph("citeseer").content_hash
    seed.make()
    for former in DATASETS.get("citeseer").former_hashes:
        seed.write_environment({"data_hash": former})
        assert seed.data_hash() == now
        check_data(seed, seed.environment(), now)
        with pytest.raises(JobError, match="is not the one seed 0"):
            check_data(seed, {"data_hash": "0" * 64}, now)


@pytest.mark.parametrize("name", [run.name for run in bundled_examples()])
def test_every_example_opens_without_a_network(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_DATA", str(tmp_path))
    monkeypatch.setattr(socket, "socket", lambda *_, **__: pytest.fail("the network was asked"))
    load_graph.cache_clear()
    (run,) = [run for run in bundled_examples() if run.name == name]
    seed = run.existing_seed(None)
    graph = graph_of(seed)
    assert seed.edge_mask(0).num_edges == graph.num_edges


def test_they_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.npz")}
    assert set(sizes) == {"cora.npz", "citeseer.npz", "pubmed.npz"}
    assert sizes["cora.npz"] < 100_000
    assert sum(sizes.values()) < 5_000_000


@pytest.mark.parametrize("name", FOLDERS)
def test_it_is_read_without_torch(name: str) -> None:
    code = f"""
import sys
from glt.data import DATASETS, Graph, load_graph
load_graph({name!r})
heavy = {{"torch", "torch_geometric", "pandas"}} & set(sys.modules)
assert not heavy, heavy
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_class_names_follow_planetoids_numbers() -> None:
    graph = load_graph("cora")
    sizes = dict(zip(graph.class_names, np.bincount(graph.labels).tolist(), strict=True))
    # Sizes of the named classes where the set was first published (LINQS).
    assert sizes == {
        "Theory": 351,
        "Reinforcement Learning": 217,
        "Genetic Algorithms": 418,
        "Neural Networks": 818,
        "Probabilistic Methods": 426,
        "Case-Based Reasoning": 298,
        "Rule Learning": 180,
    }


def test_the_build_script_makes_what_is_bundled_from_the_published_tables(tmp_path: Path) -> None:
    """Take the tables apart out of the bundled graph, shuffled, and let the script put them together."""
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
    with np.load(tmp_path / "cora.npz") as made, np.load(BUNDLED_FILE) as bundled:
        assert made.files == bundled.files
        for name in bundled.files:
            assert made[name].dtype == bundled[name].dtype
            assert np.array_equal(made[name], bundled[name]), name
