"""GIN (Xu et al. 2019): sum or mean over neighbours, then an MLP."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from glt.config import AbsentMeans, RunConfig, options_of
from glt.models import MODELS
from glt.models.base import LayerCost, Model, NetworkShape, TensorSpec, Weights, hidden_activation, weight_name
from glt.receptive_field import MaskEffect

if TYPE_CHECKING:
    from torch import Tensor

    from glt.sparse import Adjacency, Dropout, Features, GraphOperator


WHY_DENSE = "the read-out, which is never pruned, shares a product with the weight of the next layer"


class GINOptions(BaseModel):
    """Choices on which the paper and the authors' code differ."""

    gin_aggregation: Literal["sum", "mean"] = Field("sum", description="Aggregation of neighbours")
    gin_degree: Literal["surviving", "original"] = Field(
        "surviving", description="Divisor of the mean: surviving degree, or that of the unpruned graph (authors' code)"
    )
    gin_mlp: Literal["two", "one"] = Field("two", description="Linear maps per layer, with a ReLU between two")
    gin_read_out: Literal["last", "jumping"] = Field(
        "last", description="Logits: the last layer, or its mean with linear maps of the hidden layers"
    )
    gin_last_relu: Annotated[bool, AbsentMeans(False)] = Field(
        False, description="ReLU after the last layer too, before the read-out (authors' code)"
    )


class GIN(Model):
    """x' = MLP((1 + eps) x + sum or mean of neighbours' x).

    The first map of the MLP is applied before aggregation.
    """

    name = "gin"
    label = "GIN"
    description = "Graph isomorphism network: sum or mean of neighbours, the node itself weighted by 1 + eps."
    tasks = frozenset({"node", "link"})
    Options = GINOptions

    def messages(self, config: RunConfig) -> int | None:
        """Return the number of layers; read-outs of hidden layers need all nodes."""
        return config.layers if options_of(config.options, GINOptions).gin_read_out == "last" else None

    def mask_effect(self, config: RunConfig) -> MaskEffect:
        """Return the effect of masks; a mean over one edge does not depend on its value."""
        options = options_of(config.options, GINOptions)
        return MaskEffect(cancels_alone=options.gin_aggregation == "mean" and options.gin_degree == "surviving")

    def writes_out_weights(self, config: RunConfig) -> str | None:
        """Return why weights are written out with jumping read-outs; else None."""
        return WHY_DENSE if options_of(config.options, GINOptions).gin_read_out == "jumping" else None

    def adjacency(self, operator: GraphOperator, config: RunConfig) -> Adjacency:
        """Return the sum, or the mean by the chosen degree, over neighbours."""
        return _aggregation(operator, None, operator.no_loops(), options_of(config.options, GINOptions))

    def tensors(self, shape: NetworkShape) -> Sequence[TensorSpec]:
        """List each layer's maps and eps, then the read-outs, which are never pruned."""
        options, specs = options_of(shape.options, GINOptions), list[TensorSpec]()
        for layer, (inputs, outputs) in enumerate(pairwise(shape.widths())):
            two = options.gin_mlp == "two"
            specs.append(TensorSpec(weight_name(layer), (inputs, shape.hidden if two else outputs), True))
            if two:
                specs.append(TensorSpec(_second(layer), (shape.hidden, outputs), True))
            specs.append(TensorSpec(_eps(layer), (1,), False, start=0.0))
        if options.gin_read_out == "jumping":
            size = shape.hidden, shape.outputs
            specs += [TensorSpec(_read_out(layer), size, False) for layer in range(shape.layers - 1)]
        return specs

    def layer_costs(self, shape: NetworkShape) -> Sequence[LayerCost]:
        """List the layers; second maps and read-outs work on all nodes' rows."""
        options, costs = options_of(shape.options, GINOptions), []
        for layer, outputs in enumerate(shape.widths()[1:]):
            two = options.gin_mlp == "two"
            further = [_second(layer)] if two else []
            if options.gin_read_out == "jumping" and layer:
                further.append(_read_out(layer - 1))
            width = shape.hidden if two else outputs
            costs.append(LayerCost(f"layer {layer + 1}", weight_name(layer), layer == 0, width, tuple(further)))
        return costs

    def stem(
        self, operator: GraphOperator, values: Tensor | None, features: Features, weights: Weights, config: RunConfig
    ) -> Any:
        """Return every layer's aggregation and the first one's result."""
        options = options_of(config.options, GINOptions)
        loops = [1 + weights[_eps(layer)] for layer in range(config.layers)]
        adjacencies = [_aggregation(operator, values, own, options) for own in loops]
        return adjacencies, adjacencies[0].propagate(features.times(weights[weight_name(0)]))

    def head(self, stem: Any, weights: Weights, dropout: Dropout, config: RunConfig) -> Tensor:
        """Return logits [N, C] from the first aggregation."""
        import torch

        from glt.sparse import as_dense, hidden_linear

        (adjacencies, rows), activation = stem, hidden_activation(config)
        hidden, read_outs = _second_map(rows, weights, 0), []
        for layer in range(1, config.layers):
            weight, read_out = weights[weight_name(layer)], weights.get(_read_out(layer - 1))
            if read_out is not None:
                weight = torch.cat([as_dense(weight), read_out], dim=1)
            rows = hidden_linear(hidden, weight, adjacencies[layer].layer(layer).dropout(dropout), activation)
            if read_out is not None:
                rows, direct = rows.tensor_split([weights[weight_name(layer)].shape[1]], dim=1)
                read_outs.append(direct)
            hidden = _second_map(adjacencies[layer].propagate(rows.contiguous(), layer), weights, layer)
        if options_of(config.options, GINOptions).gin_last_relu:
            hidden = hidden.relu()
        result: Tensor = sum(read_outs, hidden) / (1 + len(read_outs)) if read_outs else hidden
        return result


def _aggregation(operator: GraphOperator, edge_values: Tensor | None, loops: Tensor, options: GINOptions) -> Adjacency:
    if options.gin_aggregation == "sum":
        return operator.summed(edge_values, loops)
    return operator.averaged(edge_values, loops, options.gin_degree)


def _second_map(rows: Tensor, weights: Weights, layer: int) -> Tensor:
    """Finish the MLP of a layer: ReLU and the second map, if any."""
    from glt.sparse import Dropout, hidden_linear

    weight = weights.get(_second(layer))
    return rows if weight is None else hidden_linear(rows, weight, Dropout(0, None))


def _second(layer: int) -> str:
    return f"layers.{layer}.second_weight"


def _eps(layer: int) -> str:
    return f"layers.{layer}.eps"


def _read_out(layer: int) -> str:
    return f"read_out.{layer}.weight"


MODELS.register(GIN())
