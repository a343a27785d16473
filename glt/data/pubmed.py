"""PubMed: papers on diabetes that cite each other (Namata et al., 2012), through Planetoid."""

from __future__ import annotations

from glt.data.graph import Graph
from glt.data.planetoid import load_planetoid
from glt.data.planetoid_files import is_at_hand
from glt.data.registry import DATASETS, DatasetSpec

CLASS_NAMES = ("Experimental Diabetes", "Type 1 Diabetes", "Type 2 Diabetes")


def load() -> Graph:
    """Return PubMed with its public split (60 / 500 / 1,000 nodes)."""
    return load_planetoid("PubMed", name="pubmed", class_names=CLASS_NAMES)


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
        at_hand=lambda: is_at_hand("PubMed"),
    )
)
