"""PubMed: papers on diabetes that cite each other (Namata et al., 2012), as Planetoid has them; bundled."""

from __future__ import annotations

from pathlib import Path

from glt.data.archive import read_graph
from glt.data.graph import Graph
from glt.data.registry import DATASETS, DatasetSpec

BUNDLED_FILE = Path(__file__).parent / "bundled" / "pubmed.npz"

CLASS_NAMES = ("Experimental Diabetes", "Type 1 Diabetes", "Type 2 Diabetes")


def load() -> Graph:
    """Return PubMed with its public split (60 / 500 / 1,000 nodes)."""
    return read_graph(BUNDLED_FILE)


DATASETS.register(
    DatasetSpec(
        name="pubmed",
        label="PubMed",
        description="19,717 papers on diabetes, their citations and TF-IDF of their words; three types as classes",
        tasks=("node", "link"),
        nodes=19717,
        edges=44324,
        features=500,
        classes=3,
        trained=60,
        load=load,
        bundled=True,
    )
)
