"""The interface of a model: its tensors, its forward pass in two parts, and its layers' costs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from glt.config import Activation, OptionValue, RunConfig
from glt.receptive_field import MaskEffect

if TYPE_CHECKING:
    from torch import Tensor

    from glt.datasets.graph import Sizes
    from glt.sparse import Adjacency, Dropout, Features, GraphOperator


Weights = Mapping[str, "Tensor"]

BYTES_OF_A_NUMBER = 4
WEIGHT_COPIES, ROW_COPIES = 12, 7
# With few rows per step, evaluation takes the most memory; it keeps no gradients.
FIELD_ROW_COPIES = 2.5
# A receptive field with a larger share of the messages is not worth cutting out.
LARGEST_FIELD = 0.5
# Indices of both layouts of the adjacency, its values, gradients, soft mask and moments.
BYTES_OF_AN_ENTRY = 100


@dataclass(frozen=True)
class NetworkShape:
    """Widths, layers and options, which determine a network's tensors."""

    features: int
    hidden: int
    outputs: int
    layers: int
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    edge_features: int = 0

    def widths(self) -> list[int]:
        """Return the widths between layers.

        >>> NetworkShape(1433, 512, 7, 2).widths()
        [1433, 512, 7]
        """
        return [self.features, *[self.hidden] * (self.layers - 1), self.outputs]


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of a network: a linear map [inputs, outputs], or any shape filled with `start`.

    Only maps may be pruned.
    """

    name: str
    shape: tuple[int, ...]
    prunable: bool
    start: float | None = None


@dataclass(frozen=True)
class LayerCost:
    """One layer for counting MACs: its weight, its input, and the width of messages.

    `further` weights multiply every node's hidden row (attention vectors, a second map, a read-out); `of_entries`
    weights multiply the edge features of every surviving entry.
    """

    name: str
    weight: str
    reads_features: bool
    message_width: int
    further: tuple[str, ...] = ()
    of_entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clusters:
    """Mini-batches of random node clusters: numbers for training and evaluation, steps on each.

    With `fresh_masks` soft edge masks restart with each cluster.
    """

    training: int
    evaluation: int
    steps: int = 1
    fresh_masks: bool = False


class NoOptions(BaseModel):
    """A model, method or task without settings of its own."""


class Model(ABC):
    """A forward pass over graph operator, features and effective weights; it sees no mask.

    The pass has two parts: `stem` is everything before the first random number, `head` the rest. Evaluation after one
    step and training in the next use the same weights, so they share a stem. `gives_memory_back`: a step's arrays are
    too large to be kept for the next step.
    """

    name: str
    label: str
    description: str
    tasks: frozenset[str]
    gives_memory_back: bool = False
    Options: type[BaseModel] = NoOptions

    def keeps_pruned_edges(self, config: RunConfig) -> str | None:
        """Return why pruned edges stay in the operator with value 0; None if they do not."""
        return None

    def clusters(self, config: RunConfig) -> Clusters | None:
        """Return the mini-batches; None for full-batch training."""
        return None

    def messages(self, config: RunConfig) -> int | None:
        """Return the number of message-passing steps; None for a network that needs all nodes' rows.

        With a number, a pass follows the operator's layers, each of which may pass only some of the messages.
        """
        return None

    def mask_effect(self, config: RunConfig) -> MaskEffect:
        """Return where the value of an edge entry acts in the network."""
        return MaskEffect(pruned_send="always" if self.keeps_pruned_edges(config) else None)

    def writes_out_weights(self, config: RunConfig) -> str | None:
        """Return where a sparse CSR weight is written out densely; None if nowhere."""
        return None

    def adjacency(self, operator: GraphOperator, config: RunConfig) -> Adjacency:
        """Return the factors that sum surviving entries, as a ticket file holds them.

        Self-loops are 0 unless the factors include them, as a GCN's do.
        """
        return operator.summed(None, operator.no_loops())

    @abstractmethod
    def tensors(self, shape: NetworkShape) -> Sequence[TensorSpec]:
        """List the network's tensors in the order they are drawn."""

    @abstractmethod
    def layer_costs(self, shape: NetworkShape) -> Sequence[LayerCost]:
        """List the layers in the order they run."""

    @abstractmethod
    def stem(
        self, operator: GraphOperator, values: Tensor | None, features: Features, weights: Weights, config: RunConfig
    ) -> Any:
        """Compute everything before the first dropout, in a form only `head` reads.

        `values` are those of surviving edge entries, None for ones.
        """

    @abstractmethod
    def head(self, stem: Any, weights: Weights, dropout: Dropout, config: RunConfig) -> Tensor:
        """Finish the pass from a stem; return logits [N, C] (embeddings for links).

        A call with dropout may consume the stem.
        """

    def working_bytes(self, shape: NetworkShape, sizes: Sizes, entries: int) -> int:
        """Estimate the bytes of training on `entries` directed entries, beyond the program's own.

        Right within a third of the measured peaks on Cora, PubMed and ogbn-arxiv: copies of every weight (gradient,
        mask, moments, best epoch) and of every layer's rows, features twice. Rows count less where `sizes.trained`
        nodes reach so few others that steps work on a receptive field.
        """
        specs = self.tensors(shape)
        weights = sum(math.prod(spec.shape) for spec in specs)
        widths = sum(spec.shape[-1] for spec in specs if spec.prunable)
        reached = sizes.trained * (1 + entries / max(sizes.nodes, 1)) ** (shape.layers - 1)
        copies = FIELD_ROW_COPIES if 0 < reached < LARGEST_FIELD * sizes.nodes else ROW_COPIES
        numbers = WEIGHT_COPIES * weights + sizes.nodes * (copies * widths + 2 * sizes.features)
        return int(BYTES_OF_A_NUMBER * numbers) + BYTES_OF_AN_ENTRY * entries

    def prunable_shapes(self, shape: NetworkShape) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the tensors a weight mask covers."""
        return {spec.name: spec.shape for spec in self.tensors(shape) if spec.prunable}


def weight_name(layer: int) -> str:
    """Return the name of the tensor that transforms a layer's input.

    >>> weight_name(0)
    'layers.0.weight'
    """
    return f"layers.{layer}.weight"


def hidden_activation(config: RunConfig) -> Activation:
    """Return the activation between layers: ReLU unless the task's options differ."""
    return "none" if config.options.get("hidden_activation") == "none" else "relu"


def initial_weights(specs: Sequence[TensorSpec], generator: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """Draw theta_0: linear maps uniform within +- 1 / sqrt(inputs), as PyTorch's Linear."""
    weights = {}
    for spec in specs:
        if spec.start is not None:
            weights[spec.name] = np.full(spec.shape, spec.start, dtype=np.float32)
        else:
            bound = np.float32(1 / np.sqrt(spec.shape[0]))
            weights[spec.name] = generator.random(spec.shape, dtype=np.float32) * (2 * bound) - bound
    return weights
