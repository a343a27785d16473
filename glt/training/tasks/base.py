"""What every task must say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel

from glt.config import RunConfig
from glt.data.graph import Graph
from glt.models.base import NoOptions

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Scores:
    """Validation and test score as fractions."""

    val: float
    test: float


class BoundTask(ABC):
    """A task tied to one graph and one device."""

    @abstractmethod
    def loss(self, output: Tensor) -> Tensor:
        """Return the training loss of a model's output, a scalar."""

    @abstractmethod
    def scores(self, output: Tensor) -> Scores:
        """Return validation and test score of a model's output."""


class Task(ABC):
    """What is predicted, how it is scored, and how wide a network's output must be."""

    name: str
    label: str
    description: str
    metric: str
    Options: type[BaseModel] = NoOptions

    @abstractmethod
    def outputs(self, graph: Graph) -> int:
        """Return the width of the network's last layer."""

    @abstractmethod
    def bind(self, graph: Graph, config: RunConfig, device: str) -> BoundTask:
        """Tie the task to a graph."""
