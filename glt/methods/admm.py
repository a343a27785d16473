"""ADMM (SGCN, Li et al. 2020): a sparse adjacency for a trained network, then one-shot weights.

`ADMM.next_masks` trains a small network on the full graph, chooses its edges by `solve_edges`, and prunes the run's own
network on what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from glt.config import AbsentMeans, Count, NonNegative, Note, Positive, RunConfig
from glt.formats import number_of, percent
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.methods import METHODS
from glt.methods.base import Method, Proposal, RoundContext

if TYPE_CHECKING:
    from torch import Tensor

    from glt.sparse import Dropout, Features
    from glt.training.problem import Arrays, Problem

EDGES_CHANGED = "solver_edges_changed"


class ADMMOptions(BaseModel):
    """Settings of the solver; the authors' where known, iterations capped near the cost of a UGS round."""

    admm_hidden: Count = Field(16, description="Hidden units of the network in the solver")
    admm_rho: Positive = Field(1e-3, description="Weight of the quadratic penalty (rho)")
    admm_learning_rate: Positive = Field(1e-3, description="Adam step size on the edge values")
    admm_weight_decay: NonNegative = Field(5e-4, description="Weight decay on the edge values")
    admm_iterations: Count = Field(30, description="Maximum ADMM iterations per round")
    admm_steps: Count = Field(10, description="Adam steps per iteration")
    admm_patience: Count = Field(10, description="Iterations without a better validation score until it stops")
    admm_start_competes: Annotated[bool, AbsentMeans(True)] = Field(
        False,
        description="Keep the initial projection unless an iterate has a strictly better validation score",
    )


class ADMM(Method):
    """Each round solves for its own target from the full graph, so rounds need not be nested."""

    name = "admm"
    label = "ADMM"
    description = "Solves for a sparse adjacency with a trained network (SGCN); one-shot magnitude pruning of weights."
    nested = False
    cause = "solver"
    ignores = frozenset({"gamma_graph", "gamma_weight"})
    Options = ADMMOptions

    def next_masks(self, context: RoundContext) -> Proposal:
        """Solve for the round's undirected edges, then prune weights; a half with rate 0 stays whole."""
        config, full = context.config, context.problem.full_masks()
        if not config.p_graph:
            return Proposal(Masks(full.edges, _one_shot_magnitude(context, full.edges)))
        solved, kind = _solved_edges(context), config.edge_mask
        # Both directions of an edge share one value, so they are kept or removed together.
        edges = EdgeMask(kind, np.tile(solved.keep, 2) if kind == "directed" else solved.keep)
        notes = SolverNotes(
            solver_iterate=solved.iterate,
            solver_edges_changed=solved.changed,
            solver_start_validation=solved.start_score,
            solver_validations=list(solved.scores),
        )
        return Proposal(Masks(edges, _one_shot_magnitude(context, edges)), notes=notes.model_dump())

    def search_epochs(self, config: RunConfig) -> int:
        """Count the trainings of both networks, each if its half is pruned; solver steps are short."""
        return config.epochs * (bool(config.p_graph) + bool(config.p_weight))

    def note_words(self, notes: Mapping[str, Note]) -> str:
        """Return the solver's result in one line: changed edges and validation scores.

        >>> ADMM().note_words({"solver_iterate": 2, "solver_edges_changed": 9, "solver_start_validation": 0.776,
        ...                    "solver_validations": [0.77, 0.774]})
        'ADMM graph: 9 kept edges differ from the start (iterate 2 of 2; validation 77.4 %, start 77.6 %)'
        """
        try:
            solver = SolverNotes.model_validate(dict(notes))
        except ValidationError:
            return ""
        changed, tried = solver.solver_edges_changed, len(solver.solver_validations)
        differ = f"{number_of(changed, 'kept edge')} differ{'s' if changed == 1 else ''} from the start"
        what = differ if changed else "the projection of the start"
        iterate = solver.solver_iterate
        better = f"iterate {iterate} of {tried}" if iterate else f"none of {tried} iterates better"
        best = percent(max(solver.solver_validations, default=math.nan))
        return f"ADMM graph: {what} ({better}; validation {best}, start {percent(solver.solver_start_validation)})"


class SolverNotes(BaseModel):
    """The solver in a round's record; see `SolvedEdges`."""

    solver_iterate: int
    solver_edges_changed: int
    solver_start_validation: float
    solver_validations: list[float]


def _solved_edges(context: RoundContext) -> SolvedEdges:
    """Train the small network on the full graph and choose the round's edges with it."""
    options, config = context.options, context.config
    changes = {"hidden": options.admm_hidden, "degree": "fixed", "edge_mask": "undirected"}
    problem = context.problem.under(config.model_copy(update=changes))
    trained = _trained(context, problem, problem.full_masks(), problem.initial_weights(context.seed), "solver network")
    count = remaining_after(config.p_graph, problem.graph.num_edges, context.round)
    generator = context.random("edge solver")

    def pulse(iteration: int) -> None:
        context.pulse("edge solver", iteration, options.admm_iterations)

    return solve_edges(problem, trained, count, options, generator, pulse)


def _one_shot_magnitude(context: RoundContext, edges: EdgeMask) -> WeightMask:
    """Train all weights on the pruned graph and keep the largest, over all tensors."""
    full = context.problem.full_masks().weights
    if not context.config.p_weight:
        return full
    trained = _trained(context, context.problem, Masks(edges, full), context.theta0, "weights to prune")
    magnitudes = {name: np.abs(trained[name]) for name in full.keep}
    target = remaining_after(context.config.p_weight, full.total, context.round)
    return full.prune_exactly(magnitudes, full.total - target)


def _trained(context: RoundContext, problem: Problem, masks: Masks, theta: Arrays, stage: str) -> Arrays:
    """Train a network without a search and return the weights of its best epoch."""
    from glt.training.network import Network
    from glt.training.trainer import Schedule

    schedule = Schedule(problem.config.epochs, problem.config.learning_rate, problem.config.weight_decay)
    result = context.train(Network(problem, masks, theta), schedule, stage)
    return {name.removeprefix("theta/"): value for name, value in result.best_tensors.items()}


@dataclass(frozen=True, eq=False)
class SolvedEdges:
    """The edges [E] that the solver kept, and its validation scores.

    `iterate` is the number (from 1) of the iterate whose projection is kept, 0 for that of the start; `changed` counts
    kept edges that the start's projection does not keep. `start_score` and `scores` are the validation scores of the
    projections of the start and of every iterate.
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
    options: ADMMOptions,
    generator: np.random.Generator,
    pulse: Callable[[int], None],
) -> SolvedEdges:
    """Choose the `count` of the E undirected edges to keep, under fixed `weights`.

    Solves min over A of loss(A) + I[nnz(A) <= count] by Adam steps on loss + rho/2 |A - Z + U|^2, Z = the largest
    |A + U|, U += A - Z, from A = the normalised adjacency (Li et al. 2020, SGCN). After every iteration the projection
    of A is scored; the first with the highest validation score is kept. With `admm_start_competes` the projection of
    the start stays unless an iterate is strictly better. The solver stops after `admm_iterations`, or after
    `admm_patience` iterations without strict improvement.

    `problem` must be undirected with fixed degrees; `pulse(iteration)` may raise to stop.
    """
    import torch

    from glt.sparse import Dropout

    network = _FixedNetwork(problem, weights)
    values = network.start.clone().requires_grad_()
    start = projected = largest(values.detach(), count)
    start_score, dual = network.validation(start), torch.zeros_like(network.start)
    best, iterate, scores, waited = start, 0, [], 0
    best_score = start_score if options.admm_start_competes else -math.inf
    dropout = Dropout(problem.config.dropout, generator)
    optimiser = torch.optim.Adam([values], lr=options.admm_learning_rate, weight_decay=options.admm_weight_decay)
    for iteration in range(options.admm_iterations):
        pulse(iteration)
        for _ in range(options.admm_steps):
            penalty = options.admm_rho / 2 * (values - projected + dual).square().sum()
            optimiser.zero_grad(set_to_none=True)
            (network.loss(values, dropout, generator) + penalty).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        projected = largest(values.detach() + dual, count)
        dual = dual + (values.detach() - projected)
        candidate = largest(values.detach(), count)
        scores.append(network.validation(candidate))
        waited += 1
        if scores[-1] > best_score:
            best, best_score, iterate, waited = candidate, scores[-1], iteration + 1, 0
        if waited == options.admm_patience:
            break
    keep, first = (support(chosen, count).cpu().numpy() for chosen in (best, start))
    return SolvedEdges(keep, iterate, int((keep & ~first).sum()), start_score, tuple(scores))


class _FixedNetwork:
    """Loss and validation score as functions of one value per undirected edge."""

    def __init__(self, problem: Problem, weights: Arrays) -> None:
        import torch

        from glt.sparse import GraphOperator

        self._problem = problem
        self._operator = GraphOperator(problem.graph, problem.full_masks().edges, problem.device)
        self._weights = {name: torch.from_numpy(value).to(problem.device) for name, value in weights.items()}
        graph = problem.graph
        degrees = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes) + 1
        values = 1 / np.sqrt(degrees[graph.edges[0]] * degrees[graph.edges[1]])
        self.start = torch.from_numpy(values.astype(np.float32)).to(problem.device)

    def loss(self, values: Tensor, dropout: Dropout, generator: np.random.Generator) -> Tensor:
        """Return the task's loss when the normalised adjacency holds `values` [E]."""
        from glt.training.tasks import TrainingPass

        def shuffled(order: Tensor) -> Tensor:
            return self._output(values, dropout, self._problem.features.shuffled(order))

        output = self._output(values, dropout, self._problem.features)
        return self._problem.task.loss(TrainingPass(output, self._weights, generator, shuffled))

    def validation(self, values: Tensor) -> float:
        """Return the validation score for `values` [E]."""
        import torch

        from glt.sparse import Dropout

        with torch.no_grad():
            output = self._output(values, Dropout(0, None), self._problem.features)
            return self._problem.task.scores(output, self._weights).val

    def _output(self, values: Tensor, dropout: Dropout, features: Features) -> Tensor:
        model, config = self._problem.model, self._problem.config
        stem = model.stem(self._operator, values / self.start, features, self._weights, config)
        return model.head(stem, self._weights, dropout, config)


def support(values: Tensor, count: int) -> Tensor:
    """Mark the `count` entries of largest magnitude, ties by index."""
    import torch

    order = torch.argsort(values.abs(), descending=True, stable=True)
    marked = torch.zeros(values.numel(), dtype=torch.bool, device=values.device)
    marked[order[:count]] = True
    return marked


def largest(values: Tensor, count: int) -> Tensor:
    """Set all but the `count` entries of largest magnitude to 0."""
    return values.where(support(values, count), 0)


METHODS.register(ADMM())
