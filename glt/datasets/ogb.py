"""Data sets of the Open Graph Benchmark (Hu et al., 2020): ogbn-arxiv, ogbn-proteins, ogbl-collab.

Graphs are cached as plain arrays in the user's cache folder and memory-mapped later.

ogbn-arxiv: papers and citations, 128 features. Citations become undirected, so 8,444 mutual ones are duplicates.

ogbn-proteins: proteins of eight species, 112 binary targets, eight features per edge. Node features are, as in
DeeperGCN (Li et al., 2020), the species (one-hot) and the sums of edge features. The species also serves as the class.

ogbl-collab: authors and collaborations; repeated ones are one edge. It has its own split by year and its own negatives.
The graph has the training edges. Authors have no class. Years and weights are not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from glt.datasets.cache import file_lock, fill_cache, only_cached
from glt.datasets.graph import DenseArray, Graph, IntArray, Provenance, Sizes, Split, first_rows
from glt.datasets.npz import read_mapped, remove_others, sizes_of, write_mapped
from glt.datasets.ogb_io import (
    OgbFiles,
    check_complete,
    check_folders,
    download,
    fingerprint,
    is_absent,
    ogb_folder,
    refusal,
    stated_counts,
)
from glt.datasets.ogb_validation import OgbFolder
from glt.datasets.registry import DATASETS, DatasetSpec
from glt.errors import DataError
from glt.formats import count
from glt.user_path import cache_folder

# Part of the cache folder's name; raise it when the same files give another Graph.
_CACHE_VERSION = 2


@dataclass(frozen=True)
class OgbDataset:
    """A data set: its files, a function from folder to Graph, and the published sizes.

    `raw_edges` counts the rows of the published edge list, with duplicates and reversed edges.
    """

    files: OgbFiles
    graph: Callable[[OgbFolder], Graph]
    published: Sizes
    raw_edges: int

    def load(self) -> Graph:
        """Return the graph; download it if none of its files exists.

        Raises DataError if the download fails, a file is invalid, or the data root is not usable.
        """
        folder = ogb_folder(self.files)
        try:
            check_folders(self.files, folder)
            # Errors are reported below.
            with contextlib.suppress(DataError, OSError):
                return read_mapped(self._cache(folder))
            if only_cached.is_set():
                return self._made_elsewhere(folder)
            # Seeds that start together must not each read the files.
            with file_lock(cache_folder() / "graphs" / f".{self.files.name}.lock", f"reading {self.files.name}"):
                return self._made(folder)
        except OSError as error:
            raise DataError(
                f"{self.files.name} cannot be read from or written to {folder} ({error.strerror or error}): set "
                "GLT_DATA to a folder with write access."
            ) from error

    def counted(self) -> Sizes | None:
        """Return the sizes of the local files, None without any; large files are not read.

        Until the graph has been read once, raw edges stand for undirected edges.
        """
        folder = ogb_folder(self.files)
        if not folder.is_dir():
            return None
        try:
            with contextlib.suppress(ValueError, TypeError, FileNotFoundError):
                return sizes_of(self._cache(folder))
            nodes, edges = stated_counts(self.files, folder)
        except (OSError, DataError):
            return None
        if (nodes, edges) == (self.published.nodes, self.raw_edges):
            return self.published
        return replace(self.published, nodes=nodes, edges=edges)

    def _made(self, folder: Path) -> Graph:
        if is_absent(self.files, folder):
            download(self.files, folder)
        check_complete(self.files, folder)
        cached = self._cache(folder)
        with contextlib.suppress(DataError):
            return read_mapped(cached)
        graph = self._read(folder)
        # Without a cache the graph is still usable.
        with contextlib.suppress(OSError, DataError):
            write_mapped(cached, graph)
            remove_others(cached, self._of(folder, "*", "*"))
            return read_mapped(cached)
        return graph

    def _read(self, folder: Path) -> Graph:
        name = self.files.name
        print(f"Reading {name} from {folder}; later loads use the cache.", file=sys.stderr, flush=True)
        try:
            graph = self.graph(OgbFolder.checked(self.files, folder))
        except MemoryError as error:
            raise DataError(f"{name} in {folder} does not fit into memory: free some memory.") from error
        dropped = graph.provenance
        print(
            f"{name} has {count(graph.num_nodes)} nodes and {count(graph.num_edges)} undirected edges; "
            f"{count(dropped.duplicates_dropped)} duplicates and {count(dropped.self_loops_dropped)} self-loops were "
            "dropped.",
            file=sys.stderr,
            flush=True,
        )
        return graph

    def _made_elsewhere(self, folder: Path) -> Graph:
        if is_absent(self.files, folder):
            raise DataError(
                f"{self.files.name} is not on this machine: start a run on it, which downloads it, or set GLT_DATA to "
                "a folder that contains it."
            )
        fill_cache(self.files.name)
        cached = self._cache(folder)
        if not cached.is_dir():
            raise DataError(
                f"{self.files.name} cannot be cached in {cached.parent}: set GLT_CACHE to a folder with write access."
            )
        return read_mapped(cached)

    def _cache(self, folder: Path) -> Path:
        return cache_folder() / "graphs" / self._of(folder, str(_CACHE_VERSION), fingerprint(self.files, folder)[:12])

    def _of(self, folder: Path, version: str, files: str) -> str:
        place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()
        return f"{self.files.name}-{version}-{place[:8]}-{files}"


FEATURES = 128
# arXiv's areas in OGB's order.
AREAS = tuple(
    f"cs.{area}"
    for area in (
        "NA MM LO CY CR DC HC CE NI CC AI MA GL NE SC AR CV GR ET SY "
        "CG OH PL SE LG SD SI RO IT PF CL IR MS FL DS OS GT DB DL DM"
    ).split()
)
SPECIES, TASKS, EDGE_FEATURES = 8, 112, 8


def arxiv_graph(folder: OgbFolder) -> Graph:
    """Return the graph with OGB's split by year (to 2017, 2018, later)."""
    pairs = folder.raw_edges()
    edges, duplicates, loops = folder.simple_edges(pairs)
    return Graph(
        name=folder.files.name,
        edges=edges,
        features=folder.numbers("node-feat", FEATURES),
        labels=folder.integers("node-label", 1, below=len(AREAS))[:, 0],
        split=folder.node_split(),
        provenance=Provenance(f"OGB {folder.files.name}", pairs.shape[1], duplicates, loops),
        class_names=AREAS,
    )


def proteins_graph(folder: OgbFolder) -> Graph:
    """Return the graph with OGB's split by species; duplicate edges keep their first features."""
    pairs = folder.raw_edges()
    edges, duplicates, loops = folder.simple_edges(pairs)
    edge_features = folder.numbers("edge-feat", EDGE_FEATURES)[first_rows(pairs, folder.nodes)]
    names, species = np.unique(folder.integers("node_species", 1)[:, 0], return_inverse=True)
    if names.size > SPECIES:
        path = folder.files.raw(folder.path)["node_species"]
        raise refusal(path, f"has {names.size} species, not {SPECIES}")
    return Graph(
        name=folder.files.name,
        edges=edges,
        features=_protein_features(edges, edge_features, species),
        labels=species.astype(np.int64),
        split=folder.node_split(),
        provenance=Provenance(f"OGB {folder.files.name}", pairs.shape[1], duplicates, loops),
        class_names=tuple(map(str, names.tolist())),
        targets=folder.integers("node-label", TASKS, below=2).astype(np.uint8),
        edge_features=edge_features,
    )


def _protein_features(edges: IntArray, edge_features: DenseArray, species: IntArray) -> DenseArray:
    """Return [N, 16]: one-hot species, then sums of edge features."""
    sums = np.zeros((species.size, EDGE_FEATURES))
    for column, values in enumerate(edge_features.T):
        for end in edges:
            sums[:, column] += np.bincount(end, weights=values, minlength=species.size)
    return np.column_stack([np.eye(SPECIES)[species], sums]).astype(np.float32)


def collab_graph(folder: OgbFolder) -> Graph:
    """Return the graph of training edges with OGB's link split and an empty node split."""
    links, (rows, duplicates, loops) = folder.link_split()
    nobody = np.zeros(0, dtype=np.int64)
    return Graph(
        name=folder.files.name,
        edges=links.train,
        features=folder.numbers("node-feat", FEATURES),
        labels=np.full(folder.nodes, -1, dtype=np.int64),
        split=Split(nobody, nobody, nobody),
        provenance=Provenance(f"OGB {folder.files.name}", rows, duplicates, loops),
        links=links,
    )


ARXIV = OgbDataset(
    files=OgbFiles(
        "ogbn-arxiv", ("edge", "node-feat", "node-label", "node_year"), split="time", archive="nodeproppred/arxiv"
    ),
    graph=arxiv_graph,
    published=Sizes(nodes=169_343, edges=1_157_799, features=FEATURES, outputs=len(AREAS)),
    raw_edges=1_166_243,
)
PROTEINS = OgbDataset(
    files=OgbFiles(
        "ogbn-proteins",
        ("edge", "edge-feat", "node-label", "node_species"),
        split="species",
        archive="nodeproppred/proteins",
    ),
    graph=proteins_graph,
    published=Sizes(
        nodes=132_534, edges=39_561_252, features=SPECIES + EDGE_FEATURES, outputs=TASKS, edge_features=EDGE_FEATURES
    ),
    raw_edges=39_561_252,
)
COLLAB = OgbDataset(
    files=OgbFiles(
        "ogbl-collab",
        ("edge", "node-feat", "edge_weight", "edge_year"),
        split="time",
        archive="linkproppred/collab",
        split_ending=".pt",
    ),
    graph=collab_graph,
    # Approximate: about 967,632 of the published rows are distinct pairs.
    published=Sizes(nodes=235_868, edges=967_632, features=FEATURES, outputs=0),
    raw_edges=1_179_052,
)

_ABOUT = (
    (ARXIV, "169,343 computer-science papers on arXiv and their citations; 40 areas as classes", "node", len(AREAS)),
    (
        PROTEINS,
        "132,534 proteins of eight species and their associations; 112 binary functions to predict",
        "node",
        SPECIES,
    ),
    (COLLAB, "235,868 authors and their collaborations; later collaborations to predict", "link", 0),
)
for _dataset, _description, _task, _classes in _ABOUT:
    _name, _sizes = _dataset.files.name, _dataset.published
    DATASETS.register(
        DatasetSpec(
            name=_name,
            label=_name,
            description=_description,
            tasks=(_task,),
            nodes=_sizes.nodes,
            edges=_sizes.edges,
            features=_sizes.features,
            classes=_classes,
            load=_dataset.load,
            evaluator=_name,
            binary_tasks=TASKS if _dataset is PROTEINS else 0,
            edge_features=_sizes.edge_features,
            counted=_dataset.counted,
        )
    )
