"""ogbl-collab: authors who wrote together, to tell who will next; two who did so in several years are one edge.

The set has its own split of links, by year, and its own pairs to tell the true ones from. Its edges are those of
training. Nobody says what class an author is of. Years, and the weights in the split, are not used and not looked at.
"""

from __future__ import annotations

import numpy as np

from glt.data.graph import Graph, Provenance, Sizes, Split
from glt.data.ogb import OgbDataset
from glt.data.ogb_checks import check_weights, finite, link_split, raw_edges
from glt.data.ogb_files import OgbFiles
from glt.data.ogb_reading import OgbRead
from glt.data.registry import DATASETS, DatasetSpec

FEATURES = 128


def graph_of(read: OgbRead) -> Graph:
    """Return the graph of training edges with OGB's split of links; no node is of a part."""
    raw_edges(read)
    check_weights(read)
    links, (rows, duplicates, loops) = link_split(read)
    nobody = np.zeros(0, dtype=np.int64)
    return Graph(
        name="ogbl-collab",
        edges=links.train,
        features=finite(read, "node-feat", FEATURES),
        labels=np.full(read.nodes, -1, dtype=np.int64),
        split=Split(nobody, nobody, nobody),
        provenance=Provenance("OGB ogbl-collab", rows, duplicates, loops),
        links=links,
    )


COLLAB = OgbDataset(
    files=OgbFiles("ogbl-collab", ("edge", "node-feat", "edge_weight", "edge_year"), split="time", split_ending=".pt"),
    graph=graph_of,
    # About: of the published rows, some 967,632 are the first of their pair.
    published=Sizes(nodes=235_868, edges=967_632, features=FEATURES, outputs=0),
    raw_edges=1_179_052,
    links=True,
)

DATASETS.register(
    DatasetSpec(
        name="ogbl-collab",
        label="ogbl-collab",
        description="235,868 authors and who wrote with whom; later collaborations to tell from other pairs",
        tasks=("link",),
        nodes=COLLAB.published.nodes,
        edges=COLLAB.published.edges,
        features=FEATURES,
        classes=0,
        load=COLLAB.load,
        evaluator="ogbl-collab",
        counted=COLLAB.counted,
    )
)
