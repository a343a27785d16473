"""Citeseer: computer-science papers that cite each other (Sen et al., 2008), as Planetoid has them; bundled.

Its graph has facts that loaders often lose: 124 papers that cite themselves (dropped, and counted in the provenance),
48 papers without any other link, and 15 that the test index leaves out: they have edges, but no words, no part in the
split and no published class. Their label is -1 here; PyTorch Geometric gives them class 0, the argmax of zeros.
"""

from __future__ import annotations

from pathlib import Path

from glt.data.archive import read_graph
from glt.data.graph import Graph
from glt.data.registry import DATASETS, DatasetSpec

BUNDLED_FILE = Path(__file__).parent / "bundled" / "citeseer.npz"

# Planetoid numbers the classes without naming them, but no two are of one size, and the sizes are those of the source.
CLASS_NAMES = (
    "Artificial Intelligence",
    "Machine Learning",
    "Information Retrieval",
    "Databases",
    "Agents",
    "Human-Computer Interaction",
)
# Recorded when the 15 papers still had class 0. No training reads their labels: they are in no part of the split.
FORMER_HASHES = {
    "fec5062e93018c4242374d6e925a13816e1ff8fbff6d0b9dc22eeb1bd7778c1b": (
        "ae37b703994186aeed289d305602df2ea933ea6487ace7cff77d7d260f5cf700"
    )
}


def load() -> Graph:
    """Return Citeseer with its public split (120 / 500 / 1,000 nodes)."""
    return read_graph(BUNDLED_FILE)


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
        former_hashes=FORMER_HASHES,
        bundled=True,
    )
)
