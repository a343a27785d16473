"""GCN (Kipf and Welling 2017) without biases, dropout on hidden layers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from glt.config import DegreeKind, RunConfig
from glt.models import MODELS
from glt.models.base import LayerCost, Model, NetworkShape, TensorSpec, Weights, hidden_activation, weight_name
from glt.receptive_field import MaskEffect

if TYPE_CHECKING:
    from torch import Tensor

    from glt.sparse import Adjacency, Dropout, Features, GraphOperator


class GCN(Model):
    """Z = A^ dropout(ReLU(A^ X W0)) W1 (paper, equation 1), for any number of layers."""

    name = "gcn"
    label = "GCN"
    description = "Graph convolutional network: normalised neighbourhood averages, no biases."
    tasks = frozenset({"node", "link"})

    def messages(self, config: RunConfig) -> int | None:
        """Return the number of layers."""
        return config.layers

    def mask_effect(self, config: RunConfig) -> MaskEffect:
        """Return the end whose degree counts an entry.

        With "both" an entry also counts in its target's degree, but only for messages into that target, whose sources
        are then read anyway.
        """
        ends: dict[DegreeKind, Literal["source", "target"]] = {"source": "source", "both": "source", "target": "target"}
        return MaskEffect(degree_of=ends.get(config.degree))

    def adjacency(self, operator: GraphOperator, config: RunConfig) -> Adjacency:
        """Return the normalised adjacency, self-loops included."""
        return operator.normalised(None, config.degree)

    def tensors(self, shape: NetworkShape) -> Sequence[TensorSpec]:
        """List the weight of every layer, [inputs, outputs]."""
        widths = shape.widths()
        return [TensorSpec(weight_name(k), (widths[k], widths[k + 1]), True) for k in range(shape.layers)]

    def layer_costs(self, shape: NetworkShape) -> Sequence[LayerCost]:
        """List the layers; only the first multiplies the features."""
        widths = shape.widths()
        return [LayerCost(f"layer {k + 1}", weight_name(k), k == 0, widths[k + 1]) for k in range(shape.layers)]

    def stem(
        self, operator: GraphOperator, values: Tensor | None, features: Features, weights: Weights, config: RunConfig
    ) -> Any:
        """Return the normalised adjacency and A^ X W0."""
        adjacency = operator.normalised(values, config.degree)
        return adjacency, adjacency.propagate(features.times(weights[weight_name(0)]))

    def head(self, stem: Any, weights: Weights, dropout: Dropout, config: RunConfig) -> Tensor:
        """Return logits [N, C] from the first layer's output."""
        from glt.sparse import hidden_linear

        (adjacency, hidden), activation = stem, hidden_activation(config)
        for layer in range(1, config.layers):
            dropped = adjacency.layer(layer).dropout(dropout)
            rows = hidden_linear(hidden, weights[weight_name(layer)], dropped, activation)
            hidden = adjacency.propagate(rows, layer)
        result: Tensor = hidden
        return result


MODELS.register(GCN())
