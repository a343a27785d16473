"""Citeseer: computer-science papers that cite each other (Sen et al., 2008), through Planetoid.

Its graph has facts that loaders like to lose: 124 papers that cite themselves (dropped, and counted in the provenance),
48 papers without any other link, and among these 15 that stand in the graph only: no words, no class, in no split.
"""

from __future__ import annotations

from glt.data.graph import Graph
from glt.data.planetoid import load_planetoid
from glt.data.registry import DATASETS, DatasetSpec

# Planetoid numbers the classes without naming them; their sizes are all different and equal to the named ones of the source.
CLASS_NAMES = (
    "Artificial Intelligence",
    "Machine Learning",
    "Information Retrieval",
    "Databases",
    "Human-Computer Interaction",
    "Agents",
)


def load() -> Graph:
    """Return Citeseer with its public split (120 / 500 / 1,000 nodes)."""
    return load_planetoid("Citeseer", name="citeseer", class_names=CLASS_NAMES)


DATASETS.register(
    DatasetSpec(
        name="citeseer",
        label="Citeseer",
        description="3,327 computer-science papers, their citations and the words they use; six fields as classes",
        tasks=("node",),
        nodes=3327,
        edges=4552,
        features=3703,
        classes=6,
        load=load,
    )
)
