"""WD-GLT (Hui et al., ICLR 2023): UGS whose search also pulls the outputs of predicted classes apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from glt.config import Count, NonNegative, OptionValue, Positive, RunConfig, options_of
from glt.datasets import DATASETS
from glt.datasets.graph import IntArray
from glt.errors import ConfigError
from glt.methods import METHODS
from glt.methods.base import EdgeDecision, FindRun, MaskSearch, RoundContext
from glt.methods.ugs import UGS, UGSOptions
from glt.training.rule import Rule

if TYPE_CHECKING:
    from torch import Tensor

    from glt.training.network import Network
    from glt.training.tasks import TrainingPass
    from glt.training.trainer import Schedule

# Step size of the masks in the re-implementation, where all descend.
DESCENT_STEP = 0.01
# Nodes up to which all are compared by default, and how many a side are drawn in larger graphs.
SMALL_GRAPH, DRAWN = 5_000, 500


class WDGLTOptions(UGSOptions):
    """UGS's settings, and those of the distance."""

    wd_edge_masks: Literal["ascend", "descend"] = Field(
        "ascend",
        description="ascend: edge masks climb the loss that weights and their masks descend (paper, min-max); descend: "
        "all descend, edge masks stay in [0, 1], and masks have step size 0.01 (re-implementation)",
    )
    wd_weight: NonNegative = Field(0.1, description="Weight of the distance in the loss (lambda)")
    wd_regularisation: Positive = Field(1e-3, description="Entropic regularisation of the distance (Sinkhorn)")
    wd_iterations: Count = Field(10, description="Sinkhorn iterations")
    wd_nodes: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="Nodes drawn from a class, and from the rest, in every step; 0 = all; empty = all of a graph of up "
        "to 5,000 nodes, 500 of a larger one",
    )


class WDGLT(UGS):
    """UGS with the loss CE - lambda * sum over predicted classes of W2^2(class, rest)."""

    name = "wd_glt"
    label = "WD-GLT"
    description = "UGS with a Wasserstein distance between predicted classes in the loss of the search."
    Options = WDGLTOptions

    def edge_decision(self, config: RunConfig) -> EdgeDecision:
        """Return UGS's search, with a loss that reads the outputs of all nodes."""
        entries, options = self.searched_edges(config), options_of(config.options, WDGLTOptions)
        return None if entries is None else MaskSearch(entries, reads_all_nodes=options.wd_weight > 0)

    def schedule(self, context: RoundContext) -> Schedule:
        """Return UGS's schedule with the distance as a rule."""
        usual, options = super().schedule(context), context.options
        ascend = options.wd_edge_masks == "ascend"
        step = usual.mask_learning_rate if ascend or options.mask_learning_rate else DESCENT_STEP
        return replace(usual, mask_learning_rate=step, rule=ClassDistance(options, context.problem.graph.num_nodes))

    def published(self, dataset: str, model: str) -> Mapping[str, OptionValue]:
        """Return the rates of the publication."""
        return {"p_graph": 0.05, "p_weight": 0.2}

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Raise ConfigError for outputs that predict no class."""
        if config.task != "node" or DATASETS.get(config.dataset).binary_tasks:
            raise ConfigError(
                "WD-GLT compares predicted classes, which link prediction and binary tasks do not have: choose another "
                "method."
            )


class ClassDistance(Rule):
    """The distance's term of the loss, and the course of the edge masks."""

    reads_all_outputs = True

    def __init__(self, options: WDGLTOptions, nodes: int) -> None:
        usual = 0 if nodes <= SMALL_GRAPH else DRAWN
        self._options = options
        self._drawn = usual if options.wd_nodes is None else options.wd_nodes

    def terms(self, step: TrainingPass, network: Network) -> Tensor | None:
        """Return -lambda * sum over predicted classes of the distance between their softmax outputs and the rest's."""
        distance = self.distance(step.output, step.generator)
        return None if distance is None else -self._options.wd_weight * distance

    def distance(self, output: Tensor, generator: np.random.Generator) -> Tensor | None:
        """Return the sum over predicted classes of logits [N, C]; None if fewer than two classes are predicted.

        A class that no node is predicted to be has no term.
        """
        import torch

        from glt.training.optimal_transport import transport_cost

        rows, options = output.softmax(dim=1), self._options
        predicted = output.detach().argmax(dim=1).cpu().numpy()
        found = np.unique(predicted)
        if found.size < 2:
            return None
        costs = []
        for number in found:
            sides = (self._some(np.flatnonzero(side), generator) for side in (predicted == number, predicted != number))
            one, other = (rows[torch.from_numpy(nodes).to(rows.device)] for nodes in sides)
            costs.append(transport_cost(one, other, options.wd_regularisation, options.wd_iterations))
        return torch.stack(costs).sum()

    def before_step(self, network: Network, epoch: int) -> None:
        """Turn the gradient of the edge masks; their penalty, added later, still lowers them."""
        edges = network.soft.edges if network.soft else None
        if self._options.wd_edge_masks == "ascend" and edges is not None and edges.grad is not None:
            edges.grad.neg_()

    def after_step(self, network: Network) -> None:
        """Keep descending edge masks in [0, 1]."""
        edges = network.soft.edges if network.soft else None
        if self._options.wd_edge_masks == "descend" and edges is not None:
            edges.data.clamp_(0, 1)

    def _some(self, nodes: IntArray, generator: np.random.Generator) -> IntArray:
        """Return the nodes, or a draw if they are more than are compared."""
        if not self._drawn or nodes.size <= self._drawn:
            return nodes
        return generator.choice(nodes, self._drawn, replace=False)


METHODS.register(WDGLT())
