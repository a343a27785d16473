"""What every network must say of itself: its tensors, its forward pass in two parts, and its layers' costs."""

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

    from glt.data.graph import Sizes
    from glt.sparse import Adjacency, Dropout, Features, GraphOperator


BYTES_OF_A_NUMBER = 4
WEIGHT_COPIES, ROW_COPIES = 12, 7
# Where a step sees few rows, evaluation decides, which keeps no gradients.
FIELD_ROW_COPIES = 2.5
# A receptive field with more of the messages than this is not cut out: sums are computed for steps and scores apart.
LARGEST_FIELD = 0.5
# Indices of both layouts of the adjacency, its values, gradients, soft mask and moments.
BYTES_OF_AN_ENTRY = 100


@dataclass(frozen=True)
class NetworkShape:
    """What decides a network's tensors: F input features, H hidden units, C outputs, layers, the model's options.

    D edge features are 0 for nearly every data set.
    """

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
    """A tensor of a network: [inputs, outputs] of a linear map, or any shape that starts at one value.

    Only a map may be pruned. `start` is the value that a tensor which is no map has everywhere in theta_0.
    """

    name: str
    shape: tuple[int, ...]
    prunable: bool
    start: float | None = None


@dataclass(frozen=True)
class LayerCost:
    """One layer for counting: which weight transforms, what it multiplies, and how wide the messages are.

    `further` weights multiply the hidden rows of every node: attention vectors, a second linear map, a read-out.
    `of_entries` multiply the features of every surviving entry's edge.
    """

    name: str
    weight: str
    reads_features: bool
    message_width: int
    further: tuple[str, ...] = ()
    of_entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clusters:
    """Mini-batches of random node clusters: how many to train in and to evaluate in, and steps on each.

    With `fresh_masks` soft edge masks start anew with each cluster.
    """

    training: int
    evaluation: int
    steps: int = 1
    fresh_masks: bool = False


class NoOptions(BaseModel):
    """A model, method or task without settings of its own."""


class Model(ABC):
    """A forward pass over (graph operator with edge values, features, effective weights); it never sees a mask.

    The pass is cut in two: `stem` holds all that comes before the first random number, `head` the rest. Evaluation
    after one step and training in the next use the same weights, so they share one stem. `gives_memory_back` says that
    a step's arrays are too large to be kept for the next one.
    """

    name: str
    label: str
    description: str
    tasks: frozenset[str]
    gives_memory_back: bool = False
    Options: type[BaseModel] = NoOptions

    def keeps_pruned_edges(self, config: RunConfig) -> str | None:
        """Say why pruned edges stay in the operator with the value 0; None, as nearly always, when they do not."""
        return None

    def clusters(self, config: RunConfig) -> Clusters | None:
        """Return the mini-batches a network works in; None, as nearly always, when it sees the graph at once."""
        return None

    def messages(self, config: RunConfig) -> int | None:
        """Return how many times in a row rows are sent along edges; None for a network that needs all nodes' rows.

        A pass then follows the operator's layers, of which each may pass a part of the messages only.
        """
        return None

    def mask_effect(self, config: RunConfig) -> MaskEffect:
        """Return where the value of one edge entry acts, which decides what its mask can learn."""
        return MaskEffect(pruned_send="always" if self.keeps_pruned_edges(config) else None)

    def writes_out_weights(self, config: RunConfig) -> str | None:
        """Say where a pass writes out the zeros of a weight kept as sparse CSR; None where it nowhere does."""
        return None

    def adjacency(self, operator: GraphOperator, config: RunConfig) -> Adjacency:
        """Return the factors with which surviving entries are added up, as a ticket file carries them.

        Self-loops have the value 0 unless the factors include them, as a GCN's do.
        """
        return operator.summed(None, operator.no_loops())

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

    def working_bytes(self, shape: NetworkShape, sizes: Sizes, entries: int) -> int:
        """Return about how many bytes training takes on a graph with so many directed entries, the program left out.

        Measured as the peak of a search on Cora, PubMed and the structure of ogbn-arxiv, and right within a third: so
        many copies of every weight (gradient, mask, moments, best epoch) and of every layer's rows, features twice.
        Rows count less where `sizes.trained` nodes reach so few others that steps work on a receptive field.
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
    """Return what stands between layers: ReLU, unless the task's options say otherwise."""
    return "none" if config.options.get("hidden_activation") == "none" else "relu"


def initial_weights(specs: Sequence[TensorSpec], generator: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """Draw theta_0: every linear map uniform within +- 1 / sqrt(inputs), as PyTorch's Linear does."""
    return {spec.name: _initial(spec, generator) for spec in specs}


def _initial(spec: TensorSpec, generator: np.random.Generator) -> NDArray[np.float32]:
    if spec.start is not None:
        return np.full(spec.shape, spec.start, dtype=np.float32)
    bound = np.float32(1 / np.sqrt(spec.shape[0]))
    return generator.random(spec.shape, dtype=np.float32) * (2 * bound) - bound
