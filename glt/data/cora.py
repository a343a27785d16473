"""Cora: machine-learning papers that cite each other (Sen et al., 2008); bundled, so that it needs no network."""

from __future__ import annotations

from pathlib import Path

from glt.data.archive import read_graph
from glt.data.graph import Graph
from glt.data.registry import DATASETS, DatasetSpec

BUNDLED_FILE = Path(__file__).parent / "bundled" / "cora.npz"


def load() -> Graph:
    """Return Cora in Planetoid's node order with its public split (140 / 500 / 1,000 nodes)."""
    return read_graph(BUNDLED_FILE)


DATASETS.register(
    DatasetSpec(
        name="cora",
        label="Cora",
        description="2,708 machine-learning papers, their citations and the words they use; seven fields as classes",
        tasks=("node", "link"),
        nodes=2708,
        edges=5278,
        features=1433,
        classes=7,
        trained=140,
        load=load,
        bundled=True,
    )
)
