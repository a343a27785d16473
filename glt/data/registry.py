"""The registry of data sets: one file of this folder declares each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from glt.data.graph import Graph, Sizes
from glt.registry import Registry


@dataclass(frozen=True)
class DatasetSpec:
    """A data set as the user chooses it; `edges` counts undirected simple edges, all counts are those of its Graph.

    `load` returns the graph and raises DataError when the files are missing, damaged or not the published ones.
    `bundled` says that it needs no network. A set of the Open Graph Benchmark names its `evaluator`; `binary_tasks`
    are predicted in place of classes, `edge_features` are numbers an edge has. `trained` says how many nodes are
    trained on where these are few. `counted` looks up the sizes of the files at hand, None when there are none; they
    may be a part of the published set. `at_hand` says whether there are any where nothing is counted.
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
    evaluator: str = ""
    binary_tasks: int = 0
    edge_features: int = 0
    trained: int = 0
    counted: Callable[[], Sizes | None] | None = None
    at_hand: Callable[[], bool] | None = None

    def is_at_hand(self) -> bool:
        """Say whether the set can be opened without a download."""
        look = self.at_hand or self.counted
        return self.bundled or (look is not None and bool(look()))

    @property
    def sizes(self) -> Sizes:
        """Sizes of the files at hand, else the published ones."""
        found = self.counted() if self.counted else None
        outputs = self.binary_tasks or self.classes
        return found or Sizes(self.nodes, self.edges, self.features, outputs, self.edge_features, self.trained)


DATASETS: Registry[DatasetSpec] = Registry("data set", "glt.data")


@functools.cache
def load_graph(name: str) -> Graph:
    """Return the graph of the data set `name`, read once a process.

    Raises ConfigError for an unknown name and DataError when the data cannot be had.

    >>> load_graph("cora").num_edges
    5278
    """
    return DATASETS.get(name).load()
