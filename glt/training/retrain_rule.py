"""The rule of a retraining with options: weights projected after each step, distillation from the dense network."""

from __future__ import annotations

import torch
from torch import Tensor

from glt.sparse import GraphOperator
from glt.training.batching import forward
from glt.training.network import Network
from glt.training.problem import Arrays, Problem
from glt.training.rule import Rule
from glt.training.tasks import TrainingPass


class RetrainRule(Rule):
    """Projection and distillation as TEDDY defines them (Seo et al. 2024), either of them optional.

    After each step only the `weights_left` largest prunable weights stay. The loss has the term `factor` * (1/N) sum
    over the N nodes of KL(teacher || network), between softmax outputs without a temperature; in clusters the mean is
    over the cluster's nodes. `teacher` [N, C] are logits.
    """

    def __init__(self, weights_left: int | None, teacher: Tensor | None, factor: float) -> None:
        self._weights_left = weights_left
        self._teacher = None if teacher is None else teacher.softmax(dim=1)
        self._factor = factor
        self.reads_all_outputs = teacher is not None

    def terms(self, step: TrainingPass, network: Network) -> Tensor | None:
        """Return the divergence from the teacher, times its factor."""
        if self._teacher is None:
            return None
        teacher = self._teacher if step.nodes is None else self._teacher[step.nodes]
        divergence = torch.nn.functional.kl_div(step.output.log_softmax(dim=1), teacher, reduction="batchmean")
        return self._factor * divergence

    def after_step(self, network: Network) -> None:
        """Project the weights."""
        if self._weights_left is not None:
            network.keep_largest_weights(self._weights_left)


def dense_logits(problem: Problem, weights: Arrays) -> Tensor:
    """Return the outputs [N, C] of a network on the full graph, in evaluation."""
    operator = GraphOperator(problem.graph, problem.full_masks().edges, problem.device)
    tensors = {name: torch.from_numpy(value).to(problem.device) for name, value in weights.items()}
    return forward(problem.config, operator, problem.features, tensors)
