"""Betweenness of nodes and edges kept in the user's cache folder by the content of the graph."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from analysis.measures.cache import warn_not_kept
from analysis.measures.elements import Betweenness
from analysis.measures.graph import MeasuredGraph
from glt import zips
from glt.errors import StoreError
from glt.store.safe_files import make_folder, replace_file
from glt.user_path import cache_folder

# Goes up when values change, so that those kept before are not used.
VERSION = 2


def known_betweenness(graph: MeasuredGraph, sample: int | None = None, by_networkx: bool = False) -> Betweenness | None:
    """Return what was kept for a graph, None for nothing or a file that cannot be read; nothing is unpickled."""
    try:
        path = _path(graph, sample, by_networkx)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            found = Betweenness(held["nodes"], held["edges"], int(held["sources"]), by_networkx)
    except (OSError, ValueError, KeyError, TypeError, *zips.DAMAGE):
        return None
    fits = found.nodes.shape == (graph.num_nodes,) and found.edges.shape == (graph.num_edges,)
    return found if fits and found.nodes.dtype == found.edges.dtype == np.float64 else None


def keep_betweenness(graph: MeasuredGraph, found: Betweenness, sample: int | None = None) -> None:
    """Keep values for a graph; the file is replaced in one step, and one that cannot be written is left out."""
    path = _path(graph, sample, found.by_networkx)
    try:
        make_folder(path.parent)
        replace_file(path, _npz(found), durable=False)
    except StoreError as error:
        warn_not_kept(path.parents[1], error)


def _npz(found: Betweenness) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, nodes=found.nodes, edges=found.edges, sources=found.sources)
    return buffer.getvalue()


def _path(graph: MeasuredGraph, sample: int | None, by_networkx: bool) -> Path:
    how = "exact" if sample is None or sample >= graph.num_nodes else f"sampled-{sample}"
    engine = "networkx-" if by_networkx else ""
    return cache_folder() / "betweenness" / f"{graph.content_hash}-{engine}{how}-{VERSION}.npz"
