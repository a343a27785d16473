"""Cache of measured values by content of the graph, in memory and in the user's cache folder (`GLT_CACHE`)."""

from __future__ import annotations

import io
import json
import logging
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from analysis.measures.centrality import Betweenness
from analysis.measures.graph import MeasuredGraph
from glt import zip_files
from glt.errors import StoreError
from glt.store.atomic_io import make_folder, replace_file
from glt.user_path import cache_folder

Values = dict[str, float]

# Raise it when betweenness values change: files of other versions are ignored.
BETWEENNESS_VERSION = 2

_log = logging.getLogger(__name__)


class MeasureCache:
    """Values by the hash of a graph: one small JSON file per graph, NaN as null.

    The cache only saves time: an unreadable file is ignored, a failed write is skipped, and of two simultaneous writes
    the later file stays.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._memory: dict[str, Values] = {}
        self._read_at: dict[str, int] = {}

    def get(self, graph_hash: str) -> Values:
        """Return the cached values of a graph by versioned name; a changed file is read again."""
        written = self._written(graph_hash)
        if graph_hash not in self._memory or written != self._read_at.get(graph_hash):
            self._memory[graph_hash] = {**self._memory.get(graph_hash, {}), **self._read(graph_hash)}
            self._read_at[graph_hash] = written
        return dict(self._memory[graph_hash])

    def put(self, graph_hash: str, values: Mapping[str, float]) -> None:
        """Add values for a graph; the file is replaced in one step."""
        self._memory[graph_hash] = {**self.get(graph_hash), **values}
        if self.folder is not None:
            try:
                self._write(self.folder, graph_hash)
            except StoreError as error:
                warn_not_kept(self.folder.parent, error)

    def _written(self, graph_hash: str) -> int:
        try:
            return 0 if self.folder is None else (self.folder / f"{graph_hash}.json").stat().st_mtime_ns
        except OSError:
            return 0

    def _read(self, graph_hash: str) -> Values:
        if self.folder is None:
            return {}
        try:
            document = json.loads((self.folder / f"{graph_hash}.json").read_text(encoding="utf-8"))
            return {str(name): _number(value) for name, value in document.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self, folder: Path, graph_hash: str) -> None:
        make_folder(folder)
        document = {name: None if math.isnan(v) else v for name, v in sorted(self._memory[graph_hash].items())}
        replace_file(folder / f"{graph_hash}.json", json.dumps(document).encode(), durable=False)


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return value


def warn_not_kept(folder: Path, error: StoreError) -> None:
    """Log once per process that the cache folder cannot be written, and the remedy."""
    why = error.__cause__.strerror if isinstance(error.__cause__, OSError) else None
    _warn_once(folder, why or str(error))


@cache
def _warn_once(folder: Path, why: str) -> None:
    _log.warning(
        "Measured values are not saved, because the cache folder %s cannot be written (%s): set GLT_CACHE to a "
        "writable folder.",
        folder,
        why,
    )


def shared_cache() -> MeasureCache:
    """Return the cache of this process, in the user's cache folder (`GLT_CACHE`)."""
    return _cache_in(cache_folder() / "measures")


@cache
def _cache_in(folder: Path) -> MeasureCache:
    return MeasureCache(folder)


def known_betweenness(graph: MeasuredGraph, sample: int | None = None, by_networkx: bool = False) -> Betweenness | None:
    """Return a graph's values from the cache folder, None without a readable file. Nothing is unpickled."""
    try:
        path = _cache_path(graph, sample, by_networkx)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            found = Betweenness(held["nodes"], held["edges"], int(held["sources"]), by_networkx)
    except (OSError, ValueError, KeyError, TypeError, *zip_files.DAMAGE):
        return None
    fits = found.nodes.shape == (graph.num_nodes,) and found.edges.shape == (graph.num_edges,)
    return found if fits and found.nodes.dtype == found.edges.dtype == np.float64 else None


def keep_betweenness(graph: MeasuredGraph, found: Betweenness, sample: int | None = None) -> None:
    """Write a graph's values to the cache folder in one step; a failure is logged."""
    path = _cache_path(graph, sample, found.by_networkx)
    buffer = io.BytesIO()
    np.savez(buffer, nodes=found.nodes, edges=found.edges, sources=found.sources)
    try:
        make_folder(path.parent)
        replace_file(path, buffer.getvalue(), durable=False)
    except StoreError as error:
        warn_not_kept(path.parents[1], error)


def _cache_path(graph: MeasuredGraph, sample: int | None, by_networkx: bool) -> Path:
    how = "exact" if sample is None or sample >= graph.num_nodes else f"sampled-{sample}"
    engine = "networkx-" if by_networkx else ""
    return cache_folder() / "betweenness" / f"{graph.content_hash}-{engine}{how}-{BETWEENNESS_VERSION}.npz"
