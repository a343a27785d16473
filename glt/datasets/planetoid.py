"""Cora, Citeseer and PubMed of Planetoid (Yang et al., 2016; public split), bundled.

`glt.datasets.bundled.build` makes the bundled files, Citeseer's and PubMed's with `read_planetoid` from the raw files.

Citeseer has 124 self-citations (dropped, counted in the provenance), 48 isolated papers, and 15 papers that the test
index omits: they have edges, but no words, no part in the split and no published class. Their label is -1 here; PyTorch
Geometric gives them class 0, the argmax of zeros.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from glt.datasets.graph import Graph, IntArray, Provenance, Split, simple_edges
from glt.datasets.npz import read_graph
from glt.datasets.registry import DATASETS, DatasetSpec
from glt.errors import DataError

if TYPE_CHECKING:
    from torch_geometric.data import Data

BUNDLED = Path(__file__).parent / "bundled"
CLASS_NAMES = {
    # Planetoid does not name the classes; their sizes, all different, identify them in the source.
    "citeseer": (
        "Artificial Intelligence",
        "Machine Learning",
        "Information Retrieval",
        "Databases",
        "Agents",
        "Human-Computer Interaction",
    ),
    "pubmed": ("Experimental Diabetes", "Type 1 Diabetes", "Type 2 Diabetes"),
}
_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
_PUBLISHED = Path(__file__).with_name("planetoid_sha256.json")
_ADDRESS = "https://github.com/kimiyoung/planetoid/tree/master/data"


def bundled(name: str) -> Graph:
    """Return a bundled graph in Planetoid's node order; raise DataError if it is damaged."""
    return read_graph(BUNDLED / f"{name}.npz")


def _register(
    name: str,
    label: str,
    description: str,
    counts: tuple[int, int, int, int],
    trained: int,
    former_hashes: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Register a bundled set; `counts` are nodes, edges, features and classes."""
    nodes, edges, features, classes = counts
    spec = DatasetSpec(
        name=name,
        label=label,
        description=description,
        tasks=("node", "link"),
        nodes=nodes,
        edges=edges,
        features=features,
        classes=classes,
        trained=trained,
        load=partial(bundled, name),
        former_hashes=former_hashes,
        bundled=True,
    )
    DATASETS.register(spec)


_register(
    "cora",
    "Cora",
    "2,708 machine-learning papers and their citations, bags of words; seven fields as classes",
    (2708, 5278, 1433, 7),
    trained=140,
)
_register(
    "citeseer",
    "Citeseer",
    "3,327 computer-science papers and their citations, bags of words; six fields as classes",
    (3327, 4552, 3703, 6),
    trained=120,
    # Recorded when the 15 papers had class 0; their labels are in no part of the split.
    former_hashes={
        "fec5062e93018c4242374d6e925a13816e1ff8fbff6d0b9dc22eeb1bd7778c1b": (
            "ae37b703994186aeed289d305602df2ea933ea6487ace7cff77d7d260f5cf700"
        )
    },
)
_register(
    "pubmed",
    "PubMed",
    "19,717 papers on diabetes and their citations, TF-IDF; three types of diabetes as classes",
    (19717, 44324, 500, 3),
    trained=60,
)


def read_planetoid(root: Path, folder: str, name: str, class_names: tuple[str, ...]) -> Graph:
    """Return the data set from the raw files in `root/folder/raw`, named `name`.

    Raises DataError if a raw file is missing or not the published one.
    """
    check_published(root, folder)
    data = _open(root, folder)
    train, val, test = (np.flatnonzero(mask.numpy()) for mask in (data.train_mask, data.val_mask, data.test_mask))
    pairs = _listed_edges(root, folder)
    edges, duplicates, loops = simple_edges(pairs, data.num_nodes)
    labels = data.y.numpy().astype(np.int64)
    # PyG gives nodes that the test index omits rows of zeros, whose argmax is class 0.
    listed = np.loadtxt(root / folder / "raw" / f"ind.{folder.lower()}.test.index", dtype=np.int64)
    labels[np.setdiff1d(np.arange(listed.min(), listed.max() + 1), listed)] = -1
    return Graph(
        name=name,
        edges=edges,
        features=csr_array(data.x.numpy()),
        labels=labels,
        split=Split(train, val, test),
        provenance=Provenance(f"bundled: Planetoid {folder}", pairs.shape[1], duplicates, loops),
        class_names=class_names,
    )


def check_published(root: Path, folder: str) -> None:
    """Raise DataError unless every raw file has its published SHA-256.

    Opening a pickle runs what its author put in.
    """
    published = json.loads(_PUBLISHED.read_text(encoding="utf-8"))
    for path in (root / folder / "raw" / f"ind.{folder.lower()}.{part}" for part in _PARTS):
        if not path.is_file():
            raise DataError(
                f"{path} is missing: download the raw files of {folder} from {_ADDRESS} into {path.parent}."
            )
        if hashlib.sha256(path.read_bytes()).hexdigest() != published[f"{folder}/raw/{path.name}"]:
            raise DataError(
                f"{path} is not the published file (its SHA-256 differs), so it was not opened: fetch it again from "
                f"{_ADDRESS}."
            )


def _open(root: Path, folder: str) -> Data:
    """Return PyG's Data; its processed files go to a temporary folder, as `root` may be read-only."""
    from torch_geometric.datasets import Planetoid

    with tempfile.TemporaryDirectory() as scratch:

        class ReadOnlyPlanetoid(Planetoid):
            @property
            def processed_dir(self) -> str:
                return scratch

        return ReadOnlyPlanetoid(str(root), folder)[0]


def _listed_edges(root: Path, folder: str) -> IntArray:
    """Return the raw edges [2, R]; the file lists each edge at both ends.

    PyG's edge list lacks duplicates and self-loops, which the provenance counts.
    """
    from torch_geometric.io.planetoid import read_file

    neighbours = read_file(str(root / folder / "raw"), folder, "graph")
    source = np.repeat(list(neighbours), [len(ends) for ends in neighbours.values()])
    target = np.concatenate([np.asarray(ends, dtype=np.int64) for ends in neighbours.values()])
    pairs = np.stack([source, target])
    return np.concatenate([pairs[:, source < target], pairs[:, source == target][:, ::2]], axis=1)
