"""The registry of data sets: one file of this folder declares each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from glt.data.graph import Graph
from glt.registry import Registry


@dataclass(frozen=True)
class DatasetSpec:
    """A data set as the user chooses it; `edges` counts undirected simple edges, all counts are those of its Graph.

    `load` returns the graph and raises DataError when the files are missing, damaged or not the published ones.
    `bundled` says that it needs no network.
    """

    name: str
    label: str
    description: str
    tasks: tuple[str, ...]
    nodes: int
    edges: int
    features: int
    classes: int
    load: Callable[[], Graph]
    bundled: bool = False


DATASETS: Registry[DatasetSpec] = Registry("data set", "glt.data")


@functools.cache
def load_graph(name: str) -> Graph:
    """Return the graph of the data set `name`, read once a process.

    Raises ConfigError for an unknown name and DataError when the data cannot be had.

    >>> load_graph("cora").num_edges
    5278
    """
    return DATASETS.get(name).load()
