"""Citeseer: computer-science papers that cite each other (Sen et al., 2008), through Planetoid.

Its graph has facts that loaders like to lose: 124 papers that cite themselves (dropped, and counted in the provenance),
48 papers without any other link, and 15 that are in the graph but in no table: no words, in no part of the split, and
of a class nobody knows. PyG puts these 15 into class 0, and so does everyone who reports numbers on this set.
"""

from __future__ import annotations

from glt.data.graph import Graph
from glt.data.planetoid import load_planetoid
from glt.data.planetoid_files import is_at_hand
from glt.data.registry import DATASETS, DatasetSpec

# Planetoid numbers the classes without naming them, but no two are of one size, and the sizes are those of the source.
CLASS_NAMES = (
    "Artificial Intelligence",
    "Machine Learning",
    "Information Retrieval",
    "Databases",
    "Agents",
    "Human-Computer Interaction",
)


def load() -> Graph:
    """Return Citeseer with its public split (120 / 500 / 1,000 nodes)."""
    return load_planetoid("Citeseer", name="citeseer", class_names=CLASS_NAMES)


DATASETS.register(
    DatasetSpec(
        name="citeseer",
        label="Citeseer",
        description="3,327 computer-science papers, their citations and the words they use; six fields as classes",
        tasks=("node", "link"),
        nodes=3327,
        edges=4552,
        features=3703,
        classes=6,
        trained=120,
        load=load,
        at_hand=lambda: is_at_hand("Citeseer"),
    )
)
