"""The bundled Cora is Planetoid's, is read fast and without torch, and its build script makes what is bundled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from glt.data import load_graph
from glt.data.archive import write_graph
from glt.data.bundled.build_cora import build
from glt.data.cora import BUNDLED_FILE
from glt.data.planetoid import load_planetoid


def test_it_equals_planetoid(planetoid: Path) -> None:
    bundled, original = load_graph("cora"), load_planetoid("Cora", "cora", ())
    assert (planetoid / "Cora" / "raw").is_dir()
    assert np.array_equal(bundled.edges, original.edges)
    assert np.array_equal(bundled.labels, original.labels)
    assert (bundled.features != original.features).nnz == 0
    for part in ("train", "val", "test"):
        assert np.array_equal(getattr(bundled.split, part), getattr(original.split, part))
    assert bundled.content_hash == original.content_hash


def test_it_is_small() -> None:
    assert BUNDLED_FILE.stat().st_size < 100_000


def test_it_is_read_fast_and_without_torch() -> None:
    code = """
import sys, time
from glt.data import DATASETS, load_graph
DATASETS.names()
start = time.process_time()
load_graph("cora")
assert time.process_time() - start < 0.3, time.process_time() - start
heavy = {"torch", "torch_geometric", "pandas"} & set(sys.modules)
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
    write_graph(tmp_path / "cora.npz", build(papers, citations, order))
    # Not the bytes: zip headers differ between versions of Python and NumPy.
    with np.load(tmp_path / "cora.npz") as made, np.load(BUNDLED_FILE) as bundled:
        assert made.files == bundled.files
        for name in bundled.files:
            assert made[name].dtype == bundled[name].dtype
            assert np.array_equal(made[name], bundled[name]), name
