"""Build a bundled graph.

Run `python -m glt.datasets.bundled.build cora WHEEL ORDER`, `... citeseer ROOT` or `... pubmed ROOT`.

ROOT is a folder with Planetoid's raw files in `Citeseer/raw` and `PubMed/raw`. Cora is built from a table with paper
ids, which Planetoid's files lack: WHEEL is graphdatascience 2.2 (`pip download --no-deps
graphdatascience==2.2`), whose resources hold Cora as LINQS published it, and ORDER a JSON file with `paper_id`, the
papers in Planetoid's order, `subject_to_planetoid_class` and `public_split`, first and last node of each part.
"""

from __future__ import annotations

import argparse
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from glt.datasets.graph import Graph, Provenance, Split, simple_edges
from glt.datasets.npz import write_graph
from glt.datasets.planetoid import BUNDLED, CLASS_NAMES, read_planetoid
from glt.user_path import user_path

PLANETOID = {"citeseer": "Citeseer", "pubmed": "PubMed"}
_RESOURCES = "graphdatascience/resources/cora"
# In the order of the wheel's subject numbers.
_SUBJECTS = (
    "Neural Networks",
    "Rule Learning",
    "Reinforcement Learning",
    "Probabilistic Methods",
    "Theory",
    "Genetic Algorithms",
    "Case-Based Reasoning",
)


def read_wheel(wheel: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of papers (indexed by id) and of citations in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        papers, citations = (
            pd.read_parquet(io.BytesIO(archive.read(f"{_RESOURCES}/cora_{table}.parquet.gzip")))
            for table in ("nodes", "rels")
        )
    return papers.set_index("nodeId"), citations


def cora_of(papers: pd.DataFrame, citations: pd.DataFrame, order: Mapping[str, Any]) -> Graph:
    """Return Cora with its papers in the given order."""
    ids = pd.Index(order["paper_id"])
    papers = papers.loc[ids]
    pairs = np.stack([ids.get_indexer(citations[end]) for end in ("sourceNodeId", "targetNodeId")]).astype(np.int64)
    edges, duplicates, loops = simple_edges(pairs, len(ids))
    classes = {int(subject): number for subject, number in order["subject_to_planetoid_class"].items()}
    parts = {name: np.arange(first, last + 1) for name, (first, last) in order["public_split"].items()}
    return Graph(
        name="cora",
        edges=edges,
        features=csr_array(np.stack(papers["features"].to_list()).astype(np.float32)),
        labels=papers["subject"].map(classes).to_numpy(dtype=np.int64),
        split=Split(**parts),
        provenance=Provenance("bundled: LINQS Cora from graphdatascience 2.2", pairs.shape[1], duplicates, loops),
        class_names=tuple(name for _, name in sorted((classes[i], name) for i, name in enumerate(_SUBJECTS))),
        node_ids=tuple(str(paper) for paper in ids),
    )


def main() -> None:
    """Write the graph named on the command line."""
    parser = argparse.ArgumentParser(description="Build a bundled graph.")
    sets = parser.add_subparsers(dest="name", metavar="NAME", required=True)
    of_cora = sets.add_parser("cora")
    of_cora.add_argument("wheel", type=user_path, help="graphdatascience-2.2-py3-none-any.whl")
    of_cora.add_argument("order", type=user_path, help="JSON file with the papers in Planetoid's order")
    for name in PLANETOID:
        sets.add_parser(name).add_argument("root", type=user_path, help="folder with Planetoid's raw files")
    arguments = parser.parse_args()
    if arguments.name == "cora":
        order = json.loads(arguments.order.read_text(encoding="utf-8"))
        graph = cora_of(*read_wheel(arguments.wheel), order)
    else:
        name = arguments.name
        graph = read_planetoid(arguments.root, PLANETOID[name], name, CLASS_NAMES[name])
    write_graph(BUNDLED / f"{arguments.name}.npz", graph)


if __name__ == "__main__":
    main()
