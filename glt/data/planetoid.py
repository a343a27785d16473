"""Cora, Citeseer and PubMed as torch_geometric.datasets.Planetoid reads them (Yang et al., 2016; public split).

What PyG makes of the raw files is kept as a plain archive in the user's cache folder: the next process reads that one,
quickly and without importing torch.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from glt.data.archive import read_graph, write_graph
from glt.data.graph import Graph, IntArray, Provenance, Split, simple_edges
from glt.data.planetoid_files import cache_folder, check_published, is_complete, planetoid_root, remove_half_made
from glt.errors import DataError

if TYPE_CHECKING:
    from torch_geometric.data import Data

# Part of the cached file's name: raise it whenever the same raw files would give a different Graph.
_CACHE_VERSION = 1


def load_planetoid(folder: str, name: str, class_names: tuple[str, ...]) -> Graph:
    """Return the data set PyG calls `folder` under our `name`; downloads it when its raw files are not there.

    Raises DataError when the download fails, a raw file is not the published one, or the data root cannot be used.
    """
    root = planetoid_root(folder)
    try:
        if not is_complete(root, folder):
            remove_half_made(root, folder)
            _download(root, folder)
        check_published(root, folder)
        return _cached(root, folder, name, class_names)
    except OSError as error:
        raise DataError(
            f"{folder} cannot be read or kept in {root} ({error.strerror}): set GLT_DATA to a folder of your own."
        ) from error


def _download(root: Path, folder: str) -> None:
    """Let PyG download into a folder beside the final one, so that half a download never bears the final name."""
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=".download-") as partial:
        _open(Path(partial), folder)
        (root / folder).mkdir(exist_ok=True)
        try:
            Path(partial, folder, "raw").replace(root / folder / "raw")
        except OSError:
            # Another process may have finished the same download first.
            if not is_complete(root, folder):
                raise


def _cached(root: Path, folder: str, name: str, class_names: tuple[str, ...]) -> Graph:
    cached = cache_folder() / "graphs" / f"{name}-{_CACHE_VERSION}.npz"
    with contextlib.suppress(DataError):
        return read_graph(cached)
    graph = _read(root, folder, name, class_names)
    # A cache that cannot be written costs time, not the graph.
    with contextlib.suppress(OSError):
        write_graph(cached, graph)
    return graph


def _open(root: Path, folder: str) -> Data:
    """Return PyG's Data from checked raw files; what PyG writes goes elsewhere, because `root` may be read-only."""
    from torch_geometric.datasets import Planetoid

    with tempfile.TemporaryDirectory() as scratch:

        class CheckedPlanetoid(Planetoid):
            @property
            def processed_dir(self) -> str:
                return scratch

            def download(self) -> None:
                try:
                    super().download()
                except Exception as error:
                    raise DataError(
                        f"{folder} could not be downloaded ({error or type(error).__name__}): connect to the network "
                        f"and start again, or put its raw files into {planetoid_root(folder) / folder / 'raw'}."
                    ) from error

            def process(self) -> None:
                check_published(root, folder)
                super().process()

        return CheckedPlanetoid(str(root), folder)[0]


def _read(root: Path, folder: str, name: str, class_names: tuple[str, ...]) -> Graph:
    data = _open(root, folder)
    train, val, test = (np.flatnonzero(mask.numpy()) for mask in (data.train_mask, data.val_mask, data.test_mask))
    pairs = _listed_edges(root, folder)
    edges, duplicates, loops = simple_edges(pairs, data.num_nodes)
    return Graph(
        name=name,
        edges=edges,
        features=csr_array(data.x.numpy()),
        labels=data.y.numpy(),
        split=Split(train, val, test),
        provenance=Provenance(f"Planetoid {folder}", pairs.shape[1], duplicates, loops),
        class_names=class_names,
    )


def _listed_edges(root: Path, folder: str) -> IntArray:
    """Return the [2, R] raw edges; the file lists each of them twice, at both of its ends.

    PyG's own edge list has lost duplicates and self-loops, and with them the numbers the provenance gives.
    """
    from torch_geometric.io.planetoid import read_file

    neighbours = read_file(str(root / folder / "raw"), folder, "graph")
    source = np.repeat(list(neighbours), [len(ends) for ends in neighbours.values()])
    target = np.concatenate([np.asarray(ends, dtype=np.int64) for ends in neighbours.values()])
    pairs = np.stack([source, target])
    return np.concatenate([pairs[:, source < target], pairs[:, source == target][:, ::2]], axis=1)
