"""UGS: train masks of edges and weights together with the weights, then remove the lowest (paper, Algorithm 1)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import BaseModel, Field

from glt.config import NonNegative, Positive, RunConfig
from glt.masks import Masks
from glt.methods import METHODS
from glt.methods.base import Method, Proposal, RoundContext


class UGSOptions(BaseModel):
    """Choices of the search stage on which the paper and the authors' code differ or say nothing."""

    masks_from: Literal["best_validation", "last"] = Field(
        "best_validation", description="Epoch of the search whose masks decide: best validation, or the last"
    )
    mask_weight_decay: bool = Field(True, description="Weight decay acts on the masks too, as in the authors' code")
    mask_learning_rate: Positive | None = Field(None, description="Step size of the masks; empty = that of the weights")
    mask_noise: NonNegative = Field(1e-5, description="Soft masks start at 1 +- U(noise)")


class UGS(Method):
    """Unified GNN sparsification: one search stage a round, rewinding and retraining between rounds."""

    name = "ugs"
    label = "UGS"
    description = "Learns edge and weight masks together with the network, then removes the lowest."
    nested = True
    Options = UGSOptions

    def next_masks(self, context: RoundContext) -> Proposal:
        """Run the search stage and remove the lowest-magnitude share of what remains."""
        from glt.training.loop import Schedule
        from glt.training.network import Network, SoftMasks

        config, options = context.config, context.options
        noise = context.random("mask start")
        soft = SoftMasks.around_one(context.previous, options.mask_noise, noise, context.problem.device)
        network = Network(context.problem, context.previous, context.theta0, soft)
        schedule = Schedule(
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            weight_decay=config.weight_decay,
            mask_learning_rate=options.mask_learning_rate or config.learning_rate,
            mask_weight_decay=config.weight_decay if options.mask_weight_decay else 0.0,
            gamma_graph=config.gamma_graph,
            gamma_weight=config.gamma_weight,
        )
        result = context.train(network, schedule, "search")
        tensors = result.best_tensors if options.masks_from == "best_validation" else result.last_tensors
        magnitudes = {name: np.abs(value) for name, value in tensors.items() if name.startswith("mask/")}
        edge_scores = magnitudes.pop("mask/edges")
        weight_scores = {name.removeprefix("mask/"): value for name, value in magnitudes.items()}
        edges = context.previous.edges.prune(edge_scores, config.p_graph)
        weights = context.previous.weights.prune(weight_scores, config.p_weight)
        return Proposal(Masks(edges, weights), edge_scores)

    def search_epochs(self, config: RunConfig) -> int:
        """Count one search stage."""
        return config.epochs


METHODS.register(UGS())
