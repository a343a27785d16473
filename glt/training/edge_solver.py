"""ADMM over edge values: the k edges that serve a network whose weights are held fixed (SGCN, Li et al. 2020)."""

from __future__ import annotations

import math
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
    """Step sizes and limits of the solver, and whether the projection of its start competes with its iterates'."""

    rho: float
    learning_rate: float
    weight_decay: float
    iterations: int
    steps: int
    patience: int
    start_competes: bool


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


@dataclass(frozen=True, eq=False)
class SolvedEdges:
    """Which of the E undirected edges are kept, and how that was decided.

    `iterate` is the number of the ADMM iterate (from 1) whose projection is kept, 0 for the projection of the start;
    `changed` is the number of kept edges that the projection of the start does not keep (as many go the other way).
    `start_score` and `scores` are the validation scores of the start's projection and of every iterate's, in order.
    """

    keep: NDArray[np.bool_]
    iterate: int
    changed: int
    start_score: float
    scores: tuple[float, ...]


def solve_edges(
    problem: Problem,
    weights: Arrays,
    count: int,
    settings: SolverSettings,
    generator: np.random.Generator,
    pulse: Callable[[int], None],
) -> SolvedEdges:
    """Choose the `count` of the E undirected edges to keep.

    Solves min over A of loss(A) + I[nnz(A) <= count] by Adam steps on loss + rho/2 |A - Z + U|^2, Z = the largest
    |A + U|, U += A - Z, from A = the normalised adjacency (Li et al. 2020, SGCN). After every iteration the projection
    of A itself is scored, and the one with the highest validation score is kept: of equal scores the first. With
    `start_competes` the projection of the start is scored before them and stays unless an iterate is strictly better.
    The solver stops after `iterations`, or when `patience` iterations in a row were no strict improvement.

    `problem` must be undirected with fixed degrees; `pulse(iteration)` may raise to stop.
    """
    network = _FixedNetwork(problem, weights)
    values = network.start.clone().requires_grad_()
    start = projected = largest(values.detach(), count)
    start_score, dual = network.validation(start), torch.zeros_like(network.start)
    best, iterate, scores, waited = start, 0, [], 0
    best_score = start_score if settings.start_competes else -math.inf
    dropout = Dropout(problem.config.dropout, generator)
    optimiser = torch.optim.Adam([values], lr=settings.learning_rate, weight_decay=settings.weight_decay)
    for iteration in range(settings.iterations):
        pulse(iteration)
        for _ in range(settings.steps):
            penalty = settings.rho / 2 * (values - projected + dual).square().sum()
            optimiser.zero_grad(set_to_none=True)
            (network.loss(values, dropout, generator) + penalty).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        projected, dual = updated(values.detach(), dual, count)
        candidate = largest(values.detach(), count)
        scores.append(network.validation(candidate))
        waited += 1
        if scores[-1] > best_score:
            best, best_score, iterate, waited = candidate, scores[-1], iteration + 1, 0
        if waited == settings.patience:
            break
    keep, first = (support(chosen, count).cpu().numpy() for chosen in (best, start))
    return SolvedEdges(keep, iterate, int((keep & ~first).sum()), start_score, tuple(scores))


def updated(values: Tensor, dual: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return Z and U of the next iteration: Z = the `count` largest |A + U|, U + A - Z.

    >>> [tensor.tolist() for tensor in updated(torch.tensor([3.0, -2.0, 1.0]), torch.tensor([0.0, 0.0, 4.0]), 2)]
    [[3.0, 0.0, 5.0], [0.0, -2.0, 0.0]]
    """
    projected = largest(values + dual, count)
    return projected, dual + (values - projected)


def support(values: Tensor, count: int) -> Tensor:
    """Mark the `count` entries of largest magnitude, ties by index."""
    order = torch.argsort(values.abs(), descending=True, stable=True)
    support = torch.zeros(values.numel(), dtype=torch.bool, device=values.device)
    support[order[:count]] = True
    return support


def largest(values: Tensor, count: int) -> Tensor:
    """Project onto vectors of at most `count` nonzeros: keep those of largest magnitude, set the rest to 0."""
    return torch.where(support(values, count), values, 0)
