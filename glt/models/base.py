"""What every network must say of itself: its tensors, its forward pass in two parts, and its layers' costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from glt.config import RunConfig

if TYPE_CHECKING:
    from torch import Tensor

    from glt.sparse import Dropout, Features, GraphOperator


@dataclass(frozen=True)
class NetworkShape:
    """Widths of a network: F input features, H hidden units, C outputs, and the number of layers."""

    features: int
    hidden: int
    outputs: int
    layers: int

    def widths(self) -> list[int]:
        """Return the widths between layers.

        >>> NetworkShape(1433, 512, 7, 2).widths()
        [1433, 512, 7]
        """
        return [self.features, *[self.hidden] * (self.layers - 1), self.outputs]


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of a network: [inputs, outputs] of a linear map, and whether it may be pruned."""

    name: str
    shape: tuple[int, int]
    prunable: bool


@dataclass(frozen=True)
class LayerCost:
    """One layer for counting: which weight transforms, what it multiplies, and how wide the messages are."""

    name: str
    weight: str
    reads_features: bool
    message_width: int


class NoOptions(BaseModel):
    """A model, method or task without settings of its own."""


class Model(ABC):
    """A forward pass over (graph operator with edge values, features, effective weights); it never sees a mask.

    The pass is cut in two: `stem` holds all that comes before the first random number, `head` the rest. Evaluation
    after one step and training in the next use the same weights, so they share one stem.
    """

    name: str
    label: str
    description: str
    tasks: frozenset[str]
    Options: type[BaseModel] = NoOptions

    @abstractmethod
    def tensors(self, shape: NetworkShape) -> Sequence[TensorSpec]:
        """List the network's tensors in the order in which they are drawn."""

    @abstractmethod
    def layer_costs(self, shape: NetworkShape) -> Sequence[LayerCost]:
        """List the layers in the order in which they run."""

    @abstractmethod
    def stem(
        self,
        operator: GraphOperator,
        edge_values: Tensor | None,
        features: Features,
        weights: Mapping[str, Tensor],
        config: RunConfig,
    ) -> Any:
        """Compute all that comes before the first dropout, in a form only `head` reads."""

    @abstractmethod
    def head(self, stem: Any, weights: Mapping[str, Tensor], dropout: Dropout, config: RunConfig) -> Tensor:
        """Finish the pass from a stem; returns [N, C] logits (or embeddings, for links).

        Without dropout a stem serves any number of calls; a call with dropout may consume it.
        """

    def prunable_shapes(self, shape: NetworkShape) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the tensors a weight mask covers."""
        return {spec.name: spec.shape for spec in self.tensors(shape) if spec.prunable}


def initial_weights(
    model: Model, shape: NetworkShape, generator: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    """Draw theta_0: every linear map uniform within +- 1 / sqrt(inputs), as PyTorch's Linear does."""
    drawn = {}
    for spec in model.tensors(shape):
        bound = np.float32(1 / np.sqrt(spec.shape[0]))
        drawn[spec.name] = generator.random(spec.shape, dtype=np.float32) * (2 * bound) - bound
    return drawn
