"""The registry of data sets: each is registered by a file of this folder, which may register several."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from glt.datasets.graph import Graph, Sizes
from glt.registry import Registry


@dataclass(frozen=True)
class DatasetSpec:
    """A data set as the user chooses it; `edges` counts undirected simple edges, all counts are those of its Graph.

    `load` returns the graph and raises DataError when the files are missing, damaged or not the published ones.
    `bundled` says that it needs no network. A set of the Open Graph Benchmark names its `evaluator`; `binary_tasks`
    are predicted in place of classes, `edge_features` are numbers an edge has. `trained` says how many nodes are
    trained on where these are few. `counted` looks up the sizes of the files at hand, None when there are none; they
    may be a part of the published set. `former_hashes` are content hashes that earlier versions recorded of the set,
    with the hash it has now: what changed since is nothing that a run depends on.
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
    former_hashes: Mapping[str, str] = field(default_factory=dict)

    def is_at_hand(self) -> bool:
        """Say whether the set can be opened without a download."""
        return self.bundled or (self.counted is not None and bool(self.counted()))

    @property
    def brings_split(self) -> bool:
        """Whether the set has its own link split: those that ogb scores for links."""
        return self.evaluator.startswith("ogbl-")

    @property
    def sizes(self) -> Sizes:
        """Sizes of the files at hand, else the published ones."""
        found = self.counted() if self.counted else None
        outputs = self.binary_tasks or self.classes
        return found or Sizes(self.nodes, self.edges, self.features, outputs, self.edge_features, self.trained)


DATASETS: Registry[DatasetSpec] = Registry("data set", "glt.datasets")


@functools.cache
def load_graph(name: str) -> Graph:
    """Return the graph of the data set `name`, read once a process.

    Raises ConfigError for an unknown name and DataError when the data cannot be had.

    >>> load_graph("cora").num_edges
    5278
    """
    return DATASETS.get(name).load()


@functools.lru_cache(maxsize=1024)
def current_hash(recorded: str) -> str:
    """Return the content hash that a data set has now, given one that this version or an earlier one recorded."""
    return next((each.former_hashes[recorded] for each in DATASETS if recorded in each.former_hashes), recorded)
