"""The forward pass of ResGCN's blocks, each computed a second time in the backward pass instead of being kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from glt.models.resgcn import HEAD, ResGCNOptions, map_names
from glt.sparse import Dropout, GraphOperator, message_softmax_sum, softmax_sum

Weights = Mapping[str, Tensor]


class ResidualBlocks:
    """Blocks on one graph under one edge mask.

    Of a block only its input [N, H] is kept for the backward pass; with L layers that is L N H numbers, and what one
    block needs beside. The 1e-7 that GENConv adds to every message is left out: a softmax average of them is 1e-7
    higher, whatever they are.
    """

    def __init__(self, operator: GraphOperator, edge_values: Tensor | None, options: ResGCNOptions) -> None:
        loops = operator.no_loops() + (1 if options.gen_self_loops else 0)
        self._structure = operator.structure
        self._values = operator.entry_values(edge_values, loops)
        self._counted = operator.entry_values(None, loops) if options.gen_mask == "message" else None
        self._edges = operator.edge_features()
        self._options = options

    def first(self, encoded: Tensor, weights: Weights) -> Tensor:
        """Return the first block's output, which has no normalisation, activation or residual before it."""
        return self._kept_small(lambda rows: self._convolve(0, rows, weights), encoded)

    def residual(self, layer: int, hidden: Tensor, weights: Weights, dropout: Dropout) -> Tensor:
        """Return hidden [N, H] plus what the block makes of it."""
        replayed = dropout.replayed()

        def block(rows: Tensor) -> Tensor:
            active = replayed(self._normed(f"layers.{layer}.norm", rows, weights).relu_())
            return rows + self._convolve(layer, active, weights)

        return self._kept_small(block, hidden)

    def read_out(self, hidden: Tensor, weights: Weights, dropout: Dropout) -> Tensor:
        """Return outputs [N, C] of the last block's rows."""
        replayed = dropout.replayed()

        def end(rows: Tensor) -> Tensor:
            active = replayed(self._normed("norm", rows, weights).relu_())
            return self._map(active, weights[f"{HEAD}.weight"], weights[f"{HEAD}.bias"])

        return self._kept_small(end, hidden)

    def _convolve(self, layer: int, rows: Tensor, weights: Weights) -> Tensor:
        """Aggregate, add the node's own row, and run the block's MLP (Li et al. 2020, section 3)."""
        hidden = rows + self._aggregate(layer, rows, weights)
        for place, name in enumerate(map_names(layer, self._options.gen_mlp)):
            if place:
                hidden = self._normed(f"{name}.norm", hidden, weights).relu_()
            hidden = self._map(hidden, weights[name], weights[f"{name}.bias"])
        return hidden

    def _aggregate(self, layer: int, rows: Tensor, weights: Weights) -> Tensor:
        temperature, fixed = weights[f"layers.{layer}.temperature"], self._options.gen_gradient == "stopped"
        if self._edges is None:
            # Behind the first block rows come from a ReLU.
            messages = rows if layer else rows.relu()
            return softmax_sum(self._structure, self._values, messages, temperature, self._counted, fixed)
        encoder = f"layers.{layer}.edge_encoder"
        of_edges = torch.addmm(weights[f"{encoder}.bias"], self._edges, weights[f"{encoder}.weight"])
        messages = (rows[self._structure.col] + of_edges).relu()
        count = self._structure.shape[0]
        row = self._structure.row
        return message_softmax_sum(row, self._values, messages, temperature, count, self._counted, fixed)

    def _normed(self, name: str, rows: Tensor, weights: Weights) -> Tensor:
        scale, shift = weights[f"{name}.scale"], weights[f"{name}.shift"]
        if self._options.gen_norm == "layer":
            return functional.layer_norm(rows, rows.shape[1:], scale, shift)
        return functional.batch_norm(rows, None, None, scale, shift, training=True)

    def _map(self, rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        if weight.layout is torch.sparse_csr:
            return rows @ weight + bias
        half = self._options.gen_precision == "bfloat16"
        with torch.autocast(rows.device.type, torch.bfloat16, enabled=half):
            return torch.addmm(bias, rows, weight).to(rows.dtype)

    def _kept_small(self, step: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        if not torch.is_grad_enabled():
            return step(rows)
        result: Tensor = checkpoint(step, rows, use_reentrant=False, preserve_rng_state=False)
        return result
