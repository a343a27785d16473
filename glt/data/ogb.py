"""Data sets of the Open Graph Benchmark (Hu et al., 2020), as its own package reads them.

What comes out is kept as plain arrays in the user's cache folder: the next process maps those, quickly and without
importing torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from glt.data import reading_apart
from glt.data.graph import Graph, Sizes
from glt.data.mapped_archive import read_mapped, remove_others, sizes_of, write_mapped
from glt.data.ogb_download import download
from glt.data.ogb_files import (
    OgbFiles,
    check_complete,
    check_folders,
    fingerprint,
    is_absent,
    ogb_folder,
    stated_counts,
)
from glt.data.ogb_reading import OgbRead, read_links, read_nodes
from glt.data.scratch import alone
from glt.errors import DataError
from glt.formats import count
from glt.user_path import cache_folder

# Part of the cached folder's name: raise it whenever the same raw files would give a different Graph or none.
_CACHE_VERSION = 2


@dataclass(frozen=True)
class OgbDataset:
    """A data set: its files, what a Graph of what ogb read is, and the sizes of the published one.

    `raw_edges` are the rows of the published list of edges, which has duplicates or both directions of an edge.
    """

    files: OgbFiles
    graph: Callable[[OgbRead], Graph]
    published: Sizes
    raw_edges: int
    links: bool = False

    def load(self) -> Graph:
        """Return the graph; downloads it when none of its files is there.

        Raises DataError when the download fails, a file is not what it should be, or the data root cannot be used.
        """
        folder = ogb_folder(self.files)
        try:
            check_folders(self.files, folder)
            # A file that cannot be looked at is named below.
            with contextlib.suppress(DataError, OSError):
                return read_mapped(self._cache(folder))
            if reading_apart.only_apart.is_set():
                return self._made_apart(folder)
            # Seeds that start side by side need the files read once, and memory for one reading.
            with alone(cache_folder() / "graphs" / f".{self.files.name}.lock", f"reading {self.files.name}"):
                return self._made(folder)
        except OSError as error:
            raise DataError(
                f"{self.files.name} cannot be read or kept in {folder} ({error.strerror or error}): "
                "set GLT_DATA to a folder of your own."
            ) from error

    def counted(self) -> Sizes | None:
        """Return the sizes of the files at hand, None without any; large files are not read for it.

        Undirected edges are known once the graph has been read; until then the raw edges are given for those.
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
            download(self.files, folder, "linkproppred" if self.links else "nodeproppred")
        check_complete(self.files, folder)
        cached = self._cache(folder)
        with contextlib.suppress(DataError):
            return read_mapped(cached)
        graph = self.graph((read_links if self.links else read_nodes)(self.files, folder))
        self._tell(graph)
        # A cache that cannot be written costs time and memory, not the graph.
        with contextlib.suppress(OSError, DataError):
            write_mapped(cached, graph)
            remove_others(cached, self._of(folder, "*", "*"))
            return read_mapped(cached)
        return graph

    def _tell(self, graph: Graph) -> None:
        dropped = graph.provenance
        print(
            f"{self.files.name} has {count(graph.num_nodes)} nodes and {count(graph.num_edges)} undirected edges; "
            f"{count(dropped.duplicates_dropped)} duplicates and {count(dropped.self_loops_dropped)} self-loops were "
            "dropped.",
            file=sys.stderr,
            flush=True,
        )

    def _made_apart(self, folder: Path) -> Graph:
        if is_absent(self.files, folder):
            raise DataError(
                f"{self.files.name} is not on this machine: start a run of it, which downloads it, or set GLT_DATA "
                "to a folder that has it."
            )
        reading_apart.read_apart(self.files.name)
        cached = self._cache(folder)
        if not cached.is_dir():
            raise DataError(
                f"What was read of {self.files.name} cannot be kept in {cached.parent}: set GLT_CACHE to a folder that "
                "can be written."
            )
        return read_mapped(cached)

    def _cache(self, folder: Path) -> Path:
        return cache_folder() / "graphs" / self._of(folder, str(_CACHE_VERSION), fingerprint(self.files, folder)[:12])

    def _of(self, folder: Path, version: str, files: str) -> str:
        place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()
        return f"{self.files.name}-{version}-{place[:8]}-{files}"
