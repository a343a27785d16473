"""The graphs and networks that benchmarks use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arxiv import read_structure, split_of, synthetic_features
from glt.config import RunConfig
from glt.datasets import load_graph
from glt.datasets.graph import Graph, Provenance, Split, simple_edges
from glt.presets import resolve
from glt.user_path import path_from_environment

STRUCTURE = "arxiv_structure"
SMALL = ("cora", "citeseer", "pubmed")
ARXIV = "arxiv"
MODELS = ("gcn", "gin", "gat", "resgcn")
# Lower bounds of an epoch on all rows, and on the rows that loss and scores depend on.
FLOORS = ("floor", "floor of seen rows")

Settings = dict[str, Any]
# GAT has eight heads of the hidden width.
OF_SMALL: dict[str, Settings] = {
    "gcn": {"hidden": 512},
    "gin": {"hidden": 512},
    "gat": {"hidden": 512},
    "resgcn": {"hidden": 128, "layers": 7},
}
OF_ARXIV: dict[str, Settings] = {
    "gcn": {"hidden": 128},
    "gin": {"hidden": 128},
    "gat": {"hidden": 16},
    "resgcn": {"hidden": 128, "layers": 4},
}


def network_of(subject: str, model: str) -> RunConfig:
    """Return the config of a network with the preset `official`."""
    settings = (OF_ARXIV if subject == ARXIV else OF_SMALL)[model]
    return resolve({"dataset": "ogbn-arxiv" if subject == ARXIV else subject, "model": model, **settings}, "official")


def width_words(subject: str, model: str) -> str:
    """Return the width and depth of a network as text.

    >>> width_words("cora", "gat"), width_words("arxiv", "resgcn")
    ('8 x 512', '4 layers of 128')
    """
    settings = (OF_ARXIV if subject == ARXIV else OF_SMALL)[model]
    if "layers" in settings:
        return f"{settings['layers']} layers of {settings['hidden']}"
    return f"8 x {settings['hidden']}" if model == "gat" else str(settings["hidden"])


def graph_of(subject: str) -> Graph:
    """Return a graph by name; ogbn-arxiv has synthetic features.

    Raises DataError if its files are not in the data root (GLT_DATA).
    """
    return arxiv_graph() if subject == ARXIV else load_graph(subject)


def arxiv_graph() -> Graph:
    """Return the real graph of ogbn-arxiv with its published split and synthetic features [N, 128]."""
    papers = read_structure((path_from_environment("GLT_DATA") or Path("data")) / STRUCTURE)
    citing, cited = papers.citations.tocoo().coords
    pairs = np.stack([citing, cited]).astype(np.int64)
    nodes = papers.labels.size
    edges, duplicates, loops = simple_edges(pairs, nodes)
    return Graph(
        name="ogbn-arxiv's structure",
        edges=edges,
        features=synthetic_features(papers.labels, np.random.default_rng(0)),
        labels=papers.labels,
        split=Split(*map(np.flatnonzero, split_of(papers.years).values())),
        provenance=Provenance(STRUCTURE, pairs.shape[1], duplicates, loops),
    )
