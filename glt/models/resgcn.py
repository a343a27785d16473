"""ResGCN (Li et al. 2020, DeeperGCN): as many residual blocks as asked, each a softmax aggregation and an MLP."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from glt.config import RunConfig, options_of
from glt.data.graph import Sizes
from glt.models import MODELS
from glt.models.base import (
    BYTES_OF_A_NUMBER,
    BYTES_OF_AN_ENTRY,
    WEIGHT_COPIES,
    Clusters,
    LayerCost,
    Model,
    NetworkShape,
    TensorSpec,
    weight_name,
)
from glt.receptive_field import MaskEffect

if TYPE_CHECKING:
    from torch import Tensor

    from glt.sparse import Dropout, Features, GraphOperator

ENCODER, HEAD = "encoder", "head"
# The names of a block's maps after the first, whose name is that of every network's layer.
FURTHER_MAPS = ("second_weight", "third_weight")
# What one block holds at most, in arrays of its rows or of its entries' messages.
COPIES_OF_ROWS, COPIES_OF_MESSAGES = 16, 8
WHY_DENOMINATOR = "gen_mask=message keeps a pruned edge in the denominator of its target's softmax (the authors' code)"


class ResGCNOptions(BaseModel):
    """Aggregation, normalisation, mini-batches: what the three OGB settings and the authors' code differ in."""

    gen_t: Annotated[float, Field(allow_inf_nan=False)] = Field(
        1.0, description="Where the learned temperature of the softmax aggregation starts"
    )
    gen_norm: Literal["batch", "layer"] = Field("batch", description="Normalisation before a block's activation")
    gen_mlp: Annotated[int, Field(ge=1, le=3)] = Field(1, description="Linear maps in a block, wider by two inside")
    gen_self_loops: bool = Field(False, description="A node is among its own sources; self-loops are never pruned")
    gen_gradient: Literal["full", "stopped"] = Field(
        "full", description="Softmax weights carry a gradient, or none (the authors' code for ogbn-arxiv)"
    )
    gen_mask: Literal["absent", "message"] = Field(
        "absent", description="A pruned edge is absent, or only its message is and it stays in the softmax (the code)"
    )
    gen_precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="Number format of the linear maps; sums over edges stay in single precision"
    )
    batch_clusters: Annotated[int, Field(ge=0)] = Field(
        0, description="Random node clusters an epoch is cut into; 0 = the whole graph at once"
    )
    batch_clusters_eval: Annotated[int, Field(ge=1)] = Field(
        1, description="Clusters the graph is evaluated in, where batch_clusters is not 0"
    )
    cluster_steps: Annotated[int, Field(ge=1)] = Field(1, description="Steps on each cluster")
    cluster_masks: Literal["persistent", "fresh"] = Field(
        "persistent", description="Soft edge masks stay from cluster to cluster, or start anew with each (the code)"
    )


class ResGCN(Model):
    """h <- h + MLP(z + aggregate(z)), z = dropout(ReLU(norm(h))); a linear encoder before, norm and linear head after.

    Only the maps of the blocks' MLPs are prunable: encoders and head are not, and neither is the encoder of edge
    features (paper, appendix). Normalisation by batch takes the statistics of the pass at hand, in evaluation too.
    """

    name = "resgcn"
    label = "ResGCN"
    description = (
        "Deep residual network: softmax aggregation, pre-activation blocks, for graphs with millions of edges."
    )
    tasks = frozenset({"node", "link"})
    gives_memory_back = True
    Options = ResGCNOptions

    def keeps_pruned_edges(self, config: RunConfig) -> str | None:
        """Only the authors' form needs pruned edges."""
        return WHY_DENOMINATOR if options_of(config.options, ResGCNOptions).gen_mask == "message" else None

    def mask_effect(self, config: RunConfig) -> MaskEffect:
        """Return what the softmax and the normalisation make of an entry's value.

        A softmax over one source is 1 whatever its mask is. Batch statistics are those of all nodes. An entry that
        stays in the denominator passes its source's row on, unless the softmax has no gradient or nothing above it.
        """
        options = options_of(config.options, ResGCNOptions)
        absent = options.gen_mask == "absent"
        sending: Literal["always", "beside survivors"] = "always" if options.gen_self_loops else "beside survivors"
        return MaskEffect(
            cancels_alone=absent and not options.gen_self_loops,
            joins_all_nodes=options.gen_norm == "batch",
            pruned_send=None if absent or options.gen_gradient == "stopped" else sending,
        )

    def clusters(self, config: RunConfig) -> Clusters | None:
        """Return the mini-batches, where the options ask for them."""
        options = options_of(config.options, ResGCNOptions)
        if not options.batch_clusters:
            return None
        fresh = options.cluster_masks == "fresh"
        return Clusters(options.batch_clusters, options.batch_clusters_eval, options.cluster_steps, fresh)

    def working_bytes(self, shape: NetworkShape, sizes: Sizes, entries: int) -> int:
        """Return about how many bytes training takes: every block's input, and what one block needs beside.

        Measured on the structure of ogbn-arxiv, whole and in parts. In mini-batches it is those of one cluster.
        """
        options = options_of(shape.options, ResGCNOptions)
        parts = max(options.batch_clusters, 1)
        inside, widest = -(-sizes.nodes // parts), shape.hidden * (2 if options.gen_mlp > 1 else 1)
        messages = COPIES_OF_MESSAGES * entries // parts**2 * shape.hidden if shape.edge_features else 0
        rows = inside * (shape.layers * shape.hidden + COPIES_OF_ROWS * widest)
        weights = WEIGHT_COPIES * sum(math.prod(spec.shape) for spec in self.tensors(shape))
        numbers = rows + messages + weights + sizes.nodes * (sizes.features + sizes.outputs)
        return BYTES_OF_A_NUMBER * numbers + BYTES_OF_AN_ENTRY * entries

    def tensors(self, shape: NetworkShape) -> Sequence[TensorSpec]:
        """List encoder, blocks and head."""
        layers = [spec for layer in range(shape.layers) for spec in _block_tensors(shape, layer)]
        ends = [_norm_tensors("norm", shape.hidden), _affine(HEAD, shape.hidden, shape.outputs)]
        return [*_affine(ENCODER, shape.features, shape.hidden), *layers, *(spec for end in ends for spec in end)]

    def layer_costs(self, shape: NetworkShape) -> Sequence[LayerCost]:
        """List encoder, blocks and head; an edge encoder works on every entry, the softmax itself is not counted."""
        blocks = [_block_cost(shape, layer) for layer in range(shape.layers)]
        return [
            LayerCost("encoder", f"{ENCODER}.weight", True, 0),
            *blocks,
            LayerCost("head", f"{HEAD}.weight", False, 0),
        ]

    def stem(
        self,
        operator: GraphOperator,
        edge_values: Tensor | None,
        features: Features,
        weights: Mapping[str, Tensor],
        config: RunConfig,
    ) -> Any:
        """Return the aggregation that all blocks share, and the first block's result."""
        from glt.models.blocks.residual import ResidualBlocks

        blocks = ResidualBlocks(operator, edge_values, options_of(config.options, ResGCNOptions))
        encoded = features.times(weights[f"{ENCODER}.weight"]) + weights[f"{ENCODER}.bias"]
        return blocks, blocks.first(encoded, weights)

    def head(self, stem: Any, weights: Mapping[str, Tensor], dropout: Dropout, config: RunConfig) -> Tensor:
        """Return outputs [N, C] from the first block's."""
        blocks, hidden = stem
        for layer in range(1, config.layers):
            hidden = blocks.residual(layer, hidden, weights, dropout)
        result: Tensor = blocks.read_out(hidden, weights, dropout)
        return result


def map_names(layer: int, maps: int) -> list[str]:
    """Return the names of a block's linear maps.

    >>> map_names(3, 2)
    ['layers.3.weight', 'layers.3.second_weight']
    """
    return [weight_name(layer), *(f"layers.{layer}.{name}" for name in FURTHER_MAPS[: maps - 1])]


def _block_tensors(shape: NetworkShape, layer: int) -> list[TensorSpec]:
    options, prefix = options_of(shape.options, ResGCNOptions), f"layers.{layer}"
    specs = [TensorSpec(f"{prefix}.temperature", (1,), False, start=options.gen_t)]
    if layer:
        specs += _norm_tensors(f"{prefix}.norm", shape.hidden)
    if shape.edge_features:
        specs += _affine(f"{prefix}.edge_encoder", shape.edge_features, shape.hidden)
    widths = _widths(shape.hidden, options.gen_mlp)
    for place, name in enumerate(map_names(layer, options.gen_mlp)):
        if place:
            specs += _norm_tensors(f"{name}.norm", widths[place])
        specs += [TensorSpec(name, (widths[place], widths[place + 1]), True), _bias(name, widths[place + 1])]
    return specs


def _block_cost(shape: NetworkShape, layer: int) -> LayerCost:
    first, *further = map_names(layer, options_of(shape.options, ResGCNOptions).gen_mlp)
    encoder = (f"layers.{layer}.edge_encoder.weight",) if shape.edge_features else ()
    return LayerCost(f"layer {layer + 1}", first, False, shape.hidden, tuple(further), encoder)


def _widths(hidden: int, maps: int) -> list[int]:
    """Return the widths between a block's maps: twice as wide inside.

    >>> _widths(64, 1), _widths(64, 3)
    ([64, 64], [64, 128, 128, 64])
    """
    return [hidden, *[2 * hidden] * (maps - 1), hidden]


def _affine(name: str, inputs: int, outputs: int) -> list[TensorSpec]:
    return [TensorSpec(f"{name}.weight", (inputs, outputs), False), TensorSpec(f"{name}.bias", (outputs,), False, 0.0)]


def _norm_tensors(name: str, width: int) -> list[TensorSpec]:
    return [TensorSpec(f"{name}.scale", (width,), False, 1.0), TensorSpec(f"{name}.shift", (width,), False, 0.0)]


def _bias(name: str, width: int) -> TensorSpec:
    return TensorSpec(f"{name}.bias", (width,), False, 0.0)


MODELS.register(ResGCN())
