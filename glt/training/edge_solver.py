"""ADMM over edge values: the k edges that serve a network whose weights are held fixed (SGCN, Li et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glt.sparse import Dropout, Features, GraphOperator
from glt.training.problem import Arrays, Problem
from glt.training.tasks import TrainingPass


@dataclass(frozen=True)
class SolverSettings:
    """Step sizes and limits of the solver."""

    rho: float
    learning_rate: float
    weight_decay: float
    iterations: int
    steps: int
    patience: int


class _FixedNetwork:
    """Loss and validation score as functions of one value for each undirected edge; self-loops stay as they are."""

    def __init__(self, problem: Problem, weights: Arrays) -> None:
        self._problem = problem
        self._operator = GraphOperator(problem.graph, problem.full_masks().edges, problem.device)
        self._weights = {name: torch.from_numpy(value).to(problem.device) for name, value in weights.items()}
        self.start = self._normalised_values()

    def loss(self, values: Tensor, dropout: Dropout, generator: np.random.Generator) -> Tensor:
        """Return the task's loss when the normalised adjacency holds `values` [E]."""

        def shuffled(order: Tensor) -> Tensor:
            return self._output(values, dropout, self._problem.features.shuffled(order))

        output = self._output(values, dropout, self._problem.features)
        return self._problem.task.loss(TrainingPass(output, self._weights, generator, shuffled))

    @torch.no_grad()
    def validation(self, values: Tensor) -> float:
        """Return the validation score for `values` [E]."""
        output = self._output(values, Dropout(0, None), self._problem.features)
        return self._problem.task.scores(output, self._weights).val

    def _output(self, values: Tensor, dropout: Dropout, features: Features) -> Tensor:
        model, config = self._problem.model, self._problem.config
        stem = model.stem(self._operator, values / self.start, features, self._weights, config)
        return model.head(stem, self._weights, dropout, config)

    def _normalised_values(self) -> Tensor:
        graph = self._problem.graph
        degrees = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes) + 1
        values = 1 / np.sqrt(degrees[graph.edges[0]] * degrees[graph.edges[1]])
        return torch.from_numpy(values.astype(np.float32)).to(self._problem.device)


def solve_edges(
    problem: Problem,
    weights: Arrays,
    count: int,
    settings: SolverSettings,
    generator: np.random.Generator,
    pulse: Callable[[int], None],
) -> NDArray[np.bool_]:
    """Return which `count` of the E undirected edges to keep.

    Solves min over A of loss(A) + I[nnz(A) <= count] by Adam steps on loss + rho/2 |A - Z + U|^2, Z = the largest
    |A + U|, U += A - Z. The projection with the best validation score is kept (the original looks at the test score);
    `problem` must be undirected with fixed degrees, and `pulse(iteration)` may raise to stop.
    """
    network = _FixedNetwork(problem, weights)
    values = network.start.clone().requires_grad_()
    projected, dual = _largest(values.detach(), count), torch.zeros_like(network.start)
    best, best_score, waited = projected, network.validation(projected), 0
    dropout = Dropout(problem.config.dropout, generator)
    optimiser = torch.optim.Adam([values], lr=settings.learning_rate, weight_decay=settings.weight_decay)
    for iteration in range(settings.iterations):
        pulse(iteration)
        for _ in range(settings.steps):
            penalty = settings.rho / 2 * (values - projected + dual).square().sum()
            optimiser.zero_grad(set_to_none=True)
            (network.loss(values, dropout, generator) + penalty).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        projected = _largest(values.detach() + dual, count)
        dual += values.detach() - projected
        candidate = _largest(values.detach(), count)
        score = network.validation(candidate)
        waited += 1
        if score > best_score:
            best, best_score, waited = candidate, score, 0
        if waited == settings.patience:
            break
    kept: NDArray[np.bool_] = _support(best, count).cpu().numpy()
    return kept


def _support(values: Tensor, count: int) -> Tensor:
    """Mark the `count` entries of largest magnitude, ties by index."""
    order = torch.argsort(values.abs(), descending=True, stable=True)
    support = torch.zeros(values.numel(), dtype=torch.bool, device=values.device)
    support[order[:count]] = True
    return support


def _largest(values: Tensor, count: int) -> Tensor:
    return torch.where(_support(values, count), values, 0)
