"""ResGCN (Li et al. 2020): residual blocks of normalisation, softmax aggregation and an MLP.

`ResGCN` declares the network and its tensors; `ResidualBlocks` is its forward pass, which recomputes each block in the
backward pass instead of keeping it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from glt.config import RunConfig, options_of
from glt.datasets.graph import Sizes
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
    Weights,
    weight_name,
)
from glt.receptive_field import MaskEffect

if TYPE_CHECKING:
    from torch import Tensor

    from glt.sparse import Dropout, Features, GraphOperator

ENCODER, ENCODER_MAP, HEAD = "encoder", "encoder.weight", "head"
# Names of a block's maps after the first, which is named as in every network.
FURTHER_MAPS = ("second_weight", "third_weight")
# Most that one block holds, in arrays of its rows or of its entries' messages.
COPIES_OF_ROWS, COPIES_OF_MESSAGES = 16, 8
WHY_DENOMINATOR = "gen_mask=message keeps a pruned edge in the denominator of the softmax (authors' code)"


class ResGCNOptions(BaseModel):
    """Aggregation, normalisation and mini-batches; the authors' code differs from OGB's."""

    gen_t: Annotated[float, Field(allow_inf_nan=False)] = Field(
        1.0, description="Initial value of the learned softmax temperature"
    )
    gen_norm: Literal["batch", "layer"] = Field("batch", description="Normalisation before the activation of a block")
    gen_mlp: Annotated[int, Field(ge=1, le=3)] = Field(1, description="Linear maps per block; inner widths are doubled")
    gen_self_loops: bool = Field(False, description="Self-loops in the softmax; they are never pruned")
    gen_gradient: Literal["full", "stopped"] = Field(
        "full", description="Gradient through the softmax weights, or none (authors' code for ogbn-arxiv)"
    )
    gen_mask: Literal["absent", "message"] = Field(
        "absent", description="absent: a pruned edge is gone; message: it stays in the softmax (authors' code)"
    )
    gen_precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="Number format of linear maps; sums over edges use single precision"
    )
    batch_clusters: Annotated[int, Field(ge=0)] = Field(0, description="Random node clusters per epoch; 0 = full batch")
    batch_clusters_eval: Annotated[int, Field(ge=1)] = Field(
        1, description="Clusters in evaluation; ignored if batch_clusters is 0"
    )
    cluster_steps: Annotated[int, Field(ge=1)] = Field(1, description="Optimiser steps per cluster")
    cluster_masks: Literal["persistent", "fresh"] = Field(
        "persistent", description="Soft edge masks persist between clusters, or restart with each (authors' code)"
    )


class ResGCN(Model):
    """h <- h + MLP(z + aggregate(z)), z = dropout(ReLU(norm(h))); linear encoder before, norm and linear head after.

    Only the maps of the blocks' MLPs are prunable; encoders and head are not (paper, appendix). Batch normalisation
    takes the statistics of the pass at hand, in evaluation too.
    """

    name = "resgcn"
    label = "ResGCN"
    description = "Deep residual network with softmax aggregation, for graphs with millions of edges."
    tasks = frozenset({"node", "link"})
    gives_memory_back = True
    Options = ResGCNOptions

    def keeps_pruned_edges(self, config: RunConfig) -> str | None:
        """Return why pruned edges stay in the softmax; None unless `gen_mask` is "message"."""
        return WHY_DENOMINATOR if options_of(config.options, ResGCNOptions).gen_mask == "message" else None

    def mask_effect(self, config: RunConfig) -> MaskEffect:
        """Return where softmax and normalisation let an entry's value act.

        A softmax over one source is 1 whatever its mask. Batch statistics join all nodes. An entry that stays in the
        denominator passes its source's row on, unless the softmax has no gradient or nothing above it.
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
        """Return the mini-batches if the options ask for them."""
        options = options_of(config.options, ResGCNOptions)
        if not options.batch_clusters:
            return None
        fresh = options.cluster_masks == "fresh"
        return Clusters(options.batch_clusters, options.batch_clusters_eval, options.cluster_steps, fresh)

    def working_bytes(self, shape: NetworkShape, sizes: Sizes, entries: int) -> int:
        """Estimate the bytes of training: every block's input, and one block's arrays.

        Measured on ogbn-arxiv, whole and in parts; in mini-batches it is for one cluster.
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
        """List encoder, blocks and head; the softmax is not counted."""
        maps, costs = options_of(shape.options, ResGCNOptions).gen_mlp, [LayerCost("encoder", ENCODER_MAP, True, 0)]
        for layer in range(shape.layers):
            first, *further = map_names(layer, maps)
            encoder = (f"layers.{layer}.edge_encoder.weight",) if shape.edge_features else ()
            costs.append(LayerCost(f"layer {layer + 1}", first, False, shape.hidden, tuple(further), encoder))
        return [*costs, LayerCost("head", f"{HEAD}.weight", False, 0)]

    def stem(
        self, operator: GraphOperator, values: Tensor | None, features: Features, weights: Weights, config: RunConfig
    ) -> Any:
        """Return the blocks on this graph, and the first one's result."""
        blocks = ResidualBlocks(operator, values, options_of(config.options, ResGCNOptions))
        encoded = features.times(weights[ENCODER_MAP]) + weights[f"{ENCODER}.bias"]
        return blocks, blocks.first(encoded, weights)

    def head(self, stem: Any, weights: Weights, dropout: Dropout, config: RunConfig) -> Tensor:
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
    # Twice as wide inside the block.
    widths = [shape.hidden, *[2 * shape.hidden] * (options.gen_mlp - 1), shape.hidden]
    for name, (inputs, outputs) in zip(map_names(layer, options.gen_mlp), pairwise(widths), strict=True):
        if name != weight_name(layer):
            specs += _norm_tensors(f"{name}.norm", inputs)
        specs += [TensorSpec(name, (inputs, outputs), True), TensorSpec(f"{name}.bias", (outputs,), False, 0.0)]
    return specs


def _affine(name: str, inputs: int, outputs: int) -> list[TensorSpec]:
    return [TensorSpec(f"{name}.weight", (inputs, outputs), False), TensorSpec(f"{name}.bias", (outputs,), False, 0.0)]


def _norm_tensors(name: str, width: int) -> list[TensorSpec]:
    return [TensorSpec(f"{name}.scale", (width,), False, 1.0), TensorSpec(f"{name}.shift", (width,), False, 0.0)]


class ResidualBlocks:
    """The blocks on one graph under one edge mask.

    Only a block's input [N, H] is kept for the backward pass. The 1e-7 that GENConv adds to every message is left
    out: it would raise every softmax average by 1e-7.
    """

    def __init__(self, operator: GraphOperator, edge_values: Tensor | None, options: ResGCNOptions) -> None:
        loops = operator.no_loops() + (1 if options.gen_self_loops else 0)
        self._structure = operator.structure
        self._values = operator.entry_values(edge_values, loops)
        self._counted = operator.entry_values(None, loops) if options.gen_mask == "message" else None
        self._edges = operator.edge_features()
        self._options = options

    def first(self, encoded: Tensor, weights: Weights) -> Tensor:
        """Return the first block's output; it has no normalisation, activation or residual."""
        return _checkpointed(lambda rows: self._convolve(0, rows, weights), encoded)

    def residual(self, layer: int, hidden: Tensor, weights: Weights, dropout: Dropout) -> Tensor:
        """Return hidden [N, H] plus the block's output."""
        replayed = dropout.replayed()

        def block(rows: Tensor) -> Tensor:
            active = replayed(self._normed(f"layers.{layer}.norm", rows, weights).relu_())
            return rows + self._convolve(layer, active, weights)

        return _checkpointed(block, hidden)

    def read_out(self, hidden: Tensor, weights: Weights, dropout: Dropout) -> Tensor:
        """Return outputs [N, C] of the last block's rows."""
        replayed = dropout.replayed()

        def end(rows: Tensor) -> Tensor:
            active = replayed(self._normed("norm", rows, weights).relu_())
            return self._map(active, weights[f"{HEAD}.weight"], weights[f"{HEAD}.bias"])

        return _checkpointed(end, hidden)

    def _convolve(self, layer: int, rows: Tensor, weights: Weights) -> Tensor:
        """Aggregate, add the node's own row, and run the block's MLP (Li et al. 2020, section 3)."""
        hidden = rows + self._aggregate(layer, rows, weights)
        for place, name in enumerate(map_names(layer, self._options.gen_mlp)):
            if place:
                hidden = self._normed(f"{name}.norm", hidden, weights).relu_()
            hidden = self._map(hidden, weights[name], weights[f"{name}.bias"])
        return hidden

    def _aggregate(self, layer: int, rows: Tensor, weights: Weights) -> Tensor:
        import torch

        from glt.sparse import message_softmax_sum, softmax_sum

        temperature, fixed = weights[f"layers.{layer}.temperature"], self._options.gen_gradient == "stopped"
        if self._edges is None:
            # After the first block rows come from a ReLU.
            messages = rows if layer else rows.relu()
            return softmax_sum(self._structure, self._values, messages, temperature, self._counted, fixed)
        encoder = f"layers.{layer}.edge_encoder"
        of_edges = torch.addmm(weights[f"{encoder}.bias"], self._edges, weights[f"{encoder}.weight"])
        messages = (rows[self._structure.col] + of_edges).relu()
        row, count = self._structure.row, self._structure.shape[0]
        return message_softmax_sum(row, self._values, messages, temperature, count, self._counted, fixed)

    def _normed(self, name: str, rows: Tensor, weights: Weights) -> Tensor:
        from torch.nn import functional

        scale, shift = weights[f"{name}.scale"], weights[f"{name}.shift"]
        if self._options.gen_norm == "layer":
            return functional.layer_norm(rows, rows.shape[1:], scale, shift)
        return functional.batch_norm(rows, None, None, scale, shift, training=True)

    def _map(self, rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        import torch

        if weight.layout is torch.sparse_csr:
            return rows @ weight + bias
        half = self._options.gen_precision == "bfloat16"
        with torch.autocast(rows.device.type, torch.bfloat16, enabled=half):
            return torch.addmm(bias, rows, weight).to(rows.dtype)


def _checkpointed(step: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """Run a step whose inner arrays are recomputed in the backward pass."""
    import torch
    from torch.utils.checkpoint import checkpoint

    if not torch.is_grad_enabled():
        return step(rows)
    result: Tensor = checkpoint(step, rows, use_reentrant=False, preserve_rng_state=False)
    return result


MODELS.register(ResGCN())
