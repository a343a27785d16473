"""The registry of data sets; files of this folder register theirs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from glt.datasets.graph import Graph, Sizes
from glt.registry import Registry


@dataclass(frozen=True)
class DatasetSpec:
    """A data set; counts are those of its Graph, `edges` counts undirected simple edges.

    `load` returns the graph and raises DataError for missing, damaged or unpublished files. `bundled` sets need no
    network. `evaluator` names that of an OGB set. `binary_tasks` replace classes; `edge_features` is their width;
    `trained` counts training nodes where these are few. `counted` returns the sizes of local files (perhaps a part of
    the published set), None without any. `former_hashes` maps content hashes of earlier versions to the current one;
    no run depends on the difference.
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
        """Return whether the set can be loaded without a download."""
        return self.bundled or (self.counted is not None and bool(self.counted()))

    @property
    def brings_split(self) -> bool:
        """Whether the set has its own link split: those that ogb scores for links."""
        return self.evaluator.startswith("ogbl-")

    @property
    def sizes(self) -> Sizes:
        """Sizes of the local files, else the published ones."""
        found = self.counted() if self.counted else None
        outputs = self.binary_tasks or self.classes
        return found or Sizes(self.nodes, self.edges, self.features, outputs, self.edge_features, self.trained)


DATASETS: Registry[DatasetSpec] = Registry("data set", "glt.datasets")


@functools.cache
def load_graph(name: str) -> Graph:
    """Return the graph of the data set `name`, loaded once per process.

    Raises ConfigError for an unknown name and DataError if the data cannot be loaded.

    >>> load_graph("cora").num_edges
    5278
    """
    return DATASETS.get(name).load()


@functools.lru_cache(maxsize=1024)
def current_hash(recorded: str) -> str:
    """Return the current content hash of a data set, given a recorded one."""
    return next((each.former_hashes[recorded] for each in DATASETS if recorded in each.former_hashes), recorded)
