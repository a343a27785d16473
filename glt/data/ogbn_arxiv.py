"""ogbn-arxiv: papers of computer science on arXiv that cite each other, 128 numbers of each from its words.

Citations are listed by direction; here they are undirected, so the 8,444 pairs that cite each other lose a row each.
"""

from __future__ import annotations

from glt.data.graph import Graph, Provenance, Sizes
from glt.data.ogb import OgbDataset
from glt.data.ogb_checks import finite, node_split, raw_edges, simple, whole
from glt.data.ogb_files import OgbFiles
from glt.data.ogb_reading import OgbRead
from glt.data.registry import DATASETS, DatasetSpec

FEATURES = 128
# arXiv's areas in the order in which OGB numbers them.
CLASS_NAMES = tuple(
    f"cs.{area}"
    for area in (
        "NA MM LO CY CR DC HC CE NI CC AI MA GL NE SC AR CV GR ET SY "
        "CG OH PL SE LG SD SI RO IT PF CL IR MS FL DS OS GT DB DL DM"
    ).split()
)


def graph_of(read: OgbRead) -> Graph:
    """Return the graph with OGB's split by year: trained on papers to 2017, validated on 2018, tested on later ones."""
    pairs = raw_edges(read)
    edges, duplicates, loops = simple(read, "edge", pairs)
    return Graph(
        name="ogbn-arxiv",
        edges=edges,
        features=finite(read, "node-feat", FEATURES),
        labels=whole(read, "node-label", 1, below=len(CLASS_NAMES))[:, 0],
        split=node_split(read),
        provenance=Provenance("OGB ogbn-arxiv", pairs.shape[1], duplicates, loops),
        class_names=CLASS_NAMES,
    )


ARXIV = OgbDataset(
    files=OgbFiles("ogbn-arxiv", ("edge", "node-feat", "node-label", "node_year"), split="time"),
    graph=graph_of,
    published=Sizes(nodes=169_343, edges=1_157_799, features=FEATURES, outputs=len(CLASS_NAMES)),
    raw_edges=1_166_243,
)

DATASETS.register(
    DatasetSpec(
        name="ogbn-arxiv",
        label="ogbn-arxiv",
        description="169,343 papers of computer science on arXiv and their citations; forty areas as classes",
        tasks=("node",),
        nodes=ARXIV.published.nodes,
        edges=ARXIV.published.edges,
        features=FEATURES,
        classes=len(CLASS_NAMES),
        load=ARXIV.load,
        evaluator="ogbn-arxiv",
        counted=ARXIV.counted,
    )
)
