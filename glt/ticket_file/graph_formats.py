"""Pruned graphs in formats that NetworkX, Gephi and SciPy read."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, triu

from glt.datasets.graph import Graph, IntArray
from glt.errors import DataError
from glt.formats import cell
from glt.lottery.graph import graph_of
from glt.masks import EdgeMask
from glt.store import SeedRun

# Characters that XML 1.0 cannot represent.
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


@dataclass(frozen=True, eq=False)
class SparseGraph:
    """Surviving edges: entries [2, m] (source, target) if `directed`, else each edge once.

    Isolated nodes are kept. `labels` are class numbers, -1 where unknown.
    """

    title: str
    directed: bool
    edges: IntArray
    node_ids: Sequence[str]
    labels: IntArray
    class_names: Sequence[str]

    @property
    def num_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return int(self.labels.size)

    @classmethod
    def of(cls, seed_run: SeedRun, round: int) -> SparseGraph:
        """Return the graph after a round of a seed; raise StoreError if the round is missing."""
        mask = seed_run.edge_mask(round)
        title = f"{seed_run.path.parent.name}, seed {seed_run.seed}, round {round}"
        return cls.under(graph_of(seed_run), mask, title)

    @classmethod
    def under(cls, graph: Graph, mask: EdgeMask, title: str) -> SparseGraph:
        """Return a graph under a mask; a directed mask gives a directed graph."""
        directed = mask.kind == "directed"
        edges = graph.entries() if directed else graph.edges
        ids = graph.node_ids or [str(number) for number in range(graph.num_nodes)]
        return cls(title, directed, edges[:, np.flatnonzero(mask.keep)], ids, graph.labels, graph.class_names)

    def mask(self, graph: Graph) -> EdgeMask:
        """Return these edges as a mask over the unpruned `graph`, the inverse of `under`.

        Raises DataError if an edge is not in that graph.
        """
        size = (graph.num_nodes, graph.num_nodes)
        if self.num_nodes == graph.num_nodes:
            ones = np.ones(self.edges.shape[1], dtype=np.int8)
            held = csr_array((ones, tuple(self.edges)), shape=size)
            source, target = graph.entries() if self.directed else graph.edges
            keep = np.asarray(held[source, target]).ravel() != 0
            if int(keep.sum()) == self.edges.shape[1]:
                return EdgeMask("directed" if self.directed else "undirected", keep)
        raise DataError(
            f"{self.title} is not a part of the local {graph.name}: it was made from another version of the data."
        )

    def classes(self) -> list[str]:
        """Return the class name (or number) of every node, "" where unknown."""
        names = self.class_names or [str(number) for number in range(int(self.labels.max(initial=-1)) + 1)]
        return [names[label] if label >= 0 else "" for label in self.labels]


@dataclass(frozen=True)
class GraphFormat:
    """A file format of a sparse graph: label, suffix, media type and writer."""

    label: str
    ending: str
    media_type: str
    write: Callable[[SparseGraph], bytes]


def graphml(graph: SparseGraph) -> bytes:
    """Return GraphML with node attributes label (the node's id) and class."""
    # Imported late: slow to load, and needed only here.
    import igraph

    drawn = igraph.Graph(n=graph.num_nodes, edges=graph.edges.T, directed=graph.directed)
    drawn["title"] = _xml_text(graph.title)
    drawn.vs["label"] = [_xml_text(name) for name in graph.node_ids]
    drawn.vs["class"] = [_xml_text(name) for name in graph.classes()]
    # igraph writes to files only.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.graphml"
        drawn.write_graphml(str(path))
        return path.read_bytes()


def edge_list(graph: SparseGraph) -> bytes:
    """Return a CSV table Source, Target, Type of node ids, without isolated nodes.

    An id that a spreadsheet would read as a formula is prefixed with '.
    """
    ids = np.asarray([cell(name) for name in graph.node_ids], dtype=object)
    source, target = graph.edges
    table = pd.DataFrame({"Source": ids[source], "Target": ids[target]})
    kind = "Directed" if graph.directed else "Undirected"
    return bytes(table.assign(Type=kind).to_csv(index=False).encode())


def adjacency(graph: SparseGraph) -> bytes:
    """Return an .npz of `scipy.sparse.load_npz`: a CSR matrix [N, N], rows = sources, with ids and labels.

    An undirected graph has both entries of every edge. It contains no pickle.
    """
    pairs = graph.edges if graph.directed else np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    size = (graph.num_nodes, graph.num_nodes)
    matrix = csr_array((np.ones(pairs.shape[1], dtype=np.int8), tuple(pairs)), shape=size)
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        format=np.array(b"csr"),
        shape=np.array(size),
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
        _is_array=np.array(True),
        node_ids=np.array(list(graph.node_ids), dtype=np.str_),
        labels=graph.labels,
    )
    return buffer.getvalue()


def read_adjacency(content: bytes, title: str, directed: bool, class_names: Sequence[str] = ()) -> SparseGraph:
    """Return the graph that `adjacency` wrote; direction and class names are not in the file."""
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        parts = held["data"], held["indices"], held["indptr"]
        matrix = csr_array(parts, shape=tuple(held["shape"].tolist()))
        ids, labels = held["node_ids"].tolist(), held["labels"]
    source, target = (matrix if directed else triu(matrix)).nonzero()
    edges = np.stack([source, target]).astype(np.int64)
    return SparseGraph(title, directed, edges, ids, labels, class_names)


def _xml_text(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


GRAPH_FORMATS = {
    "graphml": GraphFormat("GraphML", ".graphml", "application/xml", graphml),
    "csv": GraphFormat("Edge list", ".csv", "text/csv", edge_list),
    "npz": GraphFormat("Sparse matrix", ".npz", "application/octet-stream", adjacency),
}
