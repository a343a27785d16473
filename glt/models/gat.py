"""GAT (Velickovic et al. 2018): attention over surviving edges and the node itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from glt.config import Count, NonNegative, RunConfig, options_of
from glt.models import MODELS
from glt.models.base import LayerCost, Model, NetworkShape, TensorSpec, Weights, hidden_activation, weight_name

if TYPE_CHECKING:
    from torch import Tensor

    from glt.datasets.graph import Sizes
    from glt.sparse import Dropout, Features, GraphOperator

ENDS = ("source", "target")
# Logits, their softmax, factors and gradients of one entry and head.
BYTES_OF_A_HEAD = 56
WHY_LOGITS_STAY = (
    "gat_mask=logit sets the logit of a pruned edge to 0, so it still has the weight exp(0) in the softmax"
)
WHY_DENSE = "the attention logits of the first layer multiply its weight by the attention vectors in every pass"


class GATOptions(BaseModel):
    """Attention heads, and the effect of a mask on attention."""

    gat_heads: Count = Field(8, description="Attention heads per hidden layer, each as wide as `hidden`")
    gat_slope: NonNegative = Field(0.2, description="Negative slope of the leaky ReLU on attention logits")
    gat_mask: Literal["remove", "logit"] = Field(
        "remove",
        description="remove: pruned edges leave the softmax; logit: they stay with logit 0 (authors' code)",
    )


class GAT(Model):
    """Attention alpha_ij ~ m_ij exp(e_ij), e_ij = LeakyReLU(a_s z_j + a_t z_i), self-loop included.

    m = 0 is the softmax without the edge, m = 1 the usual one; in between m has a gradient, so a soft mask learns the
    effect of removal.
    """

    name = "gat"
    label = "GAT"
    description = "Graph attention network: learned weights on surviving edges, several heads."
    tasks = frozenset({"node", "link"})
    Options = GATOptions

    def messages(self, config: RunConfig) -> int | None:
        """Return the number of layers."""
        return config.layers

    def keeps_pruned_edges(self, config: RunConfig) -> str | None:
        """Return why pruned edges stay in the softmax; None unless `gat_mask` is "logit"."""
        return WHY_LOGITS_STAY if options_of(config.options, GATOptions).gat_mask == "logit" else None

    def writes_out_weights(self, config: RunConfig) -> str | None:
        """Return why the first weight is written out: attention logits need it."""
        return WHY_DENSE

    def tensors(self, shape: NetworkShape) -> Sequence[TensorSpec]:
        """List each layer's map and attention vectors (source and target half, a column per head)."""
        specs = []
        for layer in range(shape.layers):
            inputs, heads, width = _sizes(shape, layer)
            specs.append(TensorSpec(weight_name(layer), (inputs, heads * width), True))
            specs += [TensorSpec(_vector(layer, end), (width, heads), True) for end in ENDS]
        return specs

    def layer_costs(self, shape: NetworkShape) -> Sequence[LayerCost]:
        """List the layers with their attention vectors; the softmax is not counted."""
        costs = []
        for layer in range(shape.layers):
            _, heads, width = _sizes(shape, layer)
            vectors = tuple(_vector(layer, end) for end in ENDS)
            costs.append(LayerCost(f"layer {layer + 1}", weight_name(layer), layer == 0, heads * width, vectors))
        return costs

    def working_bytes(self, shape: NetworkShape, sizes: Sizes, entries: int) -> int:
        """Add what attention keeps per entry (self-loops too) and head."""
        heads = sum(spec.shape[1] for spec in self.tensors(shape) if spec.name.endswith(f"attention_{ENDS[0]}"))
        return super().working_bytes(shape, sizes, entries) + BYTES_OF_A_HEAD * heads * (entries + sizes.nodes)

    def stem(
        self, operator: GraphOperator, values: Tensor | None, features: Features, weights: Weights, config: RunConfig
    ) -> Any:
        """Return the attention shared by all layers, and the first layer's result.

        The first layer's logits are X (W a), far fewer numbers than (X W) a.
        """
        from glt.sparse import as_dense

        attention = _Attention(operator, values, config)
        weight = weights[weight_name(0)]
        maps = _by_head(as_dense(weight), _vectors(weights, 0))
        logits = features.times(maps.flatten(1)).reshape(-1, *maps.shape[1:])
        return attention, attention.messages(features.times(weight), logits, 0)

    def head(self, stem: Any, weights: Weights, dropout: Dropout, config: RunConfig) -> Tensor:
        """Return logits [N, C] from the first layer's output."""
        from torch.nn.functional import elu

        from glt.sparse import linear

        attention, hidden = stem
        for layer in range(1, config.layers):
            active = elu(hidden) if hidden_activation(config) == "relu" else hidden
            rows = linear(attention.operator.layer(layer).dropout(dropout)(active), weights[weight_name(layer)])
            hidden = attention.messages(rows, _by_head(rows, _vectors(weights, layer)), layer)
        result: Tensor = hidden
        return result


class _Attention:
    """A graph's entries and mask values, shared by all layers."""

    def __init__(self, operator: GraphOperator, edge_values: Tensor | None, config: RunConfig) -> None:
        self.operator = operator
        self._options = options_of(config.options, GATOptions)
        self._factors = None if edge_values is None else operator.entry_values(edge_values)

    def messages(self, rows: Tensor, ends: Tensor, layer: int) -> Tensor:
        """Attend over `rows` [N, heads * width]; `ends` [N, 2, heads] are the logits' source and target parts."""
        from torch.nn.functional import leaky_relu

        from glt.sparse import edge_softmax, propagate_heads

        part = self.operator.layer(layer)
        structure, factors = part.structure, None if self._factors is None else part.values(self._factors)
        source, target = ends.unbind(1)
        at_target = part.targets(target).index_select(0, structure.row)
        logits = leaky_relu(source.index_select(0, structure.col) + at_target, self._options.gat_slope)
        if factors is not None and self._options.gat_mask == "logit":
            logits, factors = logits * factors[:, None], None
        return propagate_heads(structure, edge_softmax(structure, logits, factors), rows)


def _by_head(rows: Tensor, vectors: Tensor) -> Tensor:
    """Return products [n, 2, heads] of each head's columns of `rows` with its vectors."""
    import torch

    _, width, heads = vectors.shape
    return torch.einsum("nhd,edh->neh", rows.reshape(-1, heads, width), vectors)


def _vectors(weights: Weights, layer: int) -> Tensor:
    """Return a layer's attention vectors [2, width, heads], source end first."""
    import torch

    from glt.sparse import as_dense

    return torch.stack([as_dense(weights[_vector(layer, end)]) for end in ENDS])


def _sizes(shape: NetworkShape, layer: int) -> tuple[int, int, int]:
    """Return inputs, heads and width of a head of a layer."""
    heads = options_of(shape.options, GATOptions).gat_heads
    inputs = shape.features if layer == 0 else heads * shape.hidden
    return (inputs, 1, shape.outputs) if layer == shape.layers - 1 else (inputs, heads, shape.hidden)


def _vector(layer: int, end: str) -> str:
    return f"layers.{layer}.attention_{end}"


MODELS.register(GAT())
