"""The interface of a task: its loss, its metrics, and the graph that carries messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from glt.config import RunConfig
from glt.datasets.graph import Graph, IntArray
from glt.datasets.registry import DatasetSpec
from glt.errors import ConfigError
from glt.models.base import NoOptions, TensorSpec
from glt.training.metrics import Chance

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Scores:
    """Validation and test score as fractions."""

    val: float
    test: float


@dataclass(frozen=True, eq=False)
class TrainingPass:
    """A training step as a task sees it: output, trained tensors and a generator.

    `shuffled(order)` runs the network again with the features of node order[i] at node i. `batch` is the task's own
    part of an epoch. `nodes` are those of the output's rows, None for all.
    """

    output: Tensor
    weights: Mapping[str, Tensor]
    generator: np.random.Generator
    shuffled: Callable[[Tensor], Tensor]
    batch: Any = None
    nodes: Tensor | None = None

    def among(self, wanted: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output's rows of `wanted` nodes, and their nodes."""
        if self.nodes is None:
            return self.output[wanted], wanted
        import torch

        if torch.equal(self.nodes, wanted):
            return self.output, wanted
        places = torch.isin(self.nodes, wanted)
        return self.output[places], self.nodes[places]


class BoundTask(ABC):
    """A task tied to one graph and device; `shuffles`: its loss asks for shuffled passes."""

    shuffles: bool = False

    def batches(self, generator: np.random.Generator) -> Iterable[Any]:
        """Return the steps of an epoch, each a `TrainingPass.batch`; by default one."""
        return (None,)

    def reads(self) -> tuple[IntArray, IntArray] | None:
        """Return the sorted nodes whose outputs loss and scores read; None for all nodes.

        A task that names them trains in one step per epoch.
        """
        return None

    @abstractmethod
    def loss(self, step: TrainingPass) -> Tensor:
        """Return the training loss of a step, a scalar."""

    @abstractmethod
    def scores(self, output: Tensor, weights: Mapping[str, Tensor]) -> Scores:
        """Return validation and test score of an output, given all trained tensors."""


class Task(ABC):
    """A prediction task: its loss, its score, and the width of the output.

    `metric` names the usual score, `metric_on` that of a data set. `trains_on_split`: losses read outputs of training
    nodes alone.
    """

    name: str
    label: str
    description: str
    metric: str
    trains_on_split: bool = False
    Options: type[BaseModel] = NoOptions

    def metric_on(self, spec: DatasetSpec) -> str:
        """Return the name of the score on a data set."""
        return self.metric

    def loss_nodes(self, graph: Graph) -> IntArray | None:
        """Return the sorted nodes whose outputs losses on `graph` read; None for all."""
        return None

    def chance(self, graph: Graph, config: RunConfig) -> Chance | None:
        """Return the validation score of guessing on a whole data set, if known."""
        return None

    @abstractmethod
    def outputs(self, classes: int, config: RunConfig) -> int:
        """Return the width of the network's output."""

    def check(self, config: RunConfig, spec: DatasetSpec) -> None:
        """Raise a StudioError for an unsuitable data set."""
        if self.name not in spec.tasks:
            able = ", ".join(spec.tasks)
            raise ConfigError(f"Data set {spec.name!r} cannot be used for task {self.name!r}; its tasks: {able}.")

    @abstractmethod
    def bind(self, graph: Graph, config: RunConfig, device: str) -> BoundTask:
        """Tie the task to a graph."""

    def objective(self, config: RunConfig) -> str:
        """Return the objective's name for captions; "" if the task has only one."""
        return ""

    def tensors(self, config: RunConfig, outputs: int) -> Sequence[TensorSpec]:
        """List tensors trained beside the network; they are never pruned or counted."""
        return []

    def message_graph(self, graph: Graph, config: RunConfig) -> Graph:
        """Return the graph that carries messages and that masks cover, without held-out edges."""
        return graph

    def message_edges(self, edges: int, spec: DatasetSpec) -> int:
        """Return how many of a data set's `edges` carry messages."""
        return edges
