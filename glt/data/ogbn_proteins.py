"""ogbn-proteins: proteins of eight species, 112 functions each may have, and eight ways in which two go together.

Proteins come without features. Theirs are, as in deep networks on this set (Li et al., 2020, DeeperGCN), the species as
one of eight, and the sum of the features of their edges. The species also stands for the class in what looks at graphs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.data.graph import DenseArray, Graph, IntArray, Provenance, Sizes, first_rows
from glt.data.ogb import OgbDataset
from glt.data.ogb_checks import finite, node_split, raw_edges, simple, whole
from glt.data.ogb_files import OgbFiles, refusal
from glt.data.ogb_reading import OgbRead
from glt.data.registry import DATASETS, DatasetSpec

SPECIES, TASKS, EDGE_FEATURES = 8, 112, 8


def graph_of(read: OgbRead) -> Graph:
    """Return the graph with OGB's split by species; an edge that is listed again keeps its first features."""
    pairs = raw_edges(read)
    edges, duplicates, loops = simple(read, "edge", pairs)
    edge_features = finite(read, "edge-feat", EDGE_FEATURES)[first_rows(pairs, read.nodes)]
    names, species = np.unique(whole(read, "node_species", 1)[:, 0], return_inverse=True)
    if names.size > SPECIES:
        raise refusal(read.path("node_species"), f"holds {names.size} species, not {SPECIES}")
    return Graph(
        name="ogbn-proteins",
        edges=edges,
        features=features_of_nodes(edges, edge_features, species),
        labels=species.astype(np.int64),
        split=node_split(read),
        provenance=Provenance("OGB ogbn-proteins", pairs.shape[1], duplicates, loops),
        class_names=tuple(map(str, names.tolist())),
        targets=whole(read, "node-label", TASKS, below=2).astype(np.uint8),
        edge_features=edge_features,
    )


def features_of_nodes(edges: IntArray, edge_features: DenseArray, species: IntArray) -> DenseArray:
    """Return [N, 16]: one of eight for the species, then the sums over a protein's edges of their eight features."""
    nodes = species.size
    columns = [_sums(edges, edge_features[:, column], nodes) for column in range(EDGE_FEATURES)]
    return np.column_stack([np.eye(SPECIES)[species], *columns]).astype(np.float32)


def _sums(edges: IntArray, values: DenseArray, nodes: int) -> NDArray[Any]:
    low, high = (np.bincount(end, weights=values, minlength=nodes) for end in edges)
    return low + high


PROTEINS = OgbDataset(
    files=OgbFiles("ogbn-proteins", ("edge", "edge-feat", "node-label", "node_species"), split="species"),
    graph=graph_of,
    published=Sizes(
        nodes=132_534, edges=39_561_252, features=SPECIES + EDGE_FEATURES, outputs=TASKS, edge_features=EDGE_FEATURES
    ),
    raw_edges=39_561_252,
)

DATASETS.register(
    DatasetSpec(
        name="ogbn-proteins",
        label="ogbn-proteins",
        description="132,534 proteins of eight species and how they go together; 112 functions to tell, yes or no",
        tasks=("node",),
        nodes=PROTEINS.published.nodes,
        edges=PROTEINS.published.edges,
        features=PROTEINS.published.features,
        classes=SPECIES,
        load=PROTEINS.load,
        evaluator="ogbn-proteins",
        binary_tasks=TASKS,
        edge_features=EDGE_FEATURES,
        counted=PROTEINS.counted,
    )
)
