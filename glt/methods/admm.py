"""ADMM (SGCN, Li et al. 2020): solve for a sparse adjacency under a trained network, then prune weights once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from glt.config import AbsentMeans, Count, NonNegative, Note, Positive, RunConfig
from glt.formats import number_of, percent
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.methods import METHODS
from glt.methods.base import Method, Proposal, RoundContext

if TYPE_CHECKING:
    from glt.training.edge_solver import SolvedEdges
    from glt.training.loop import Schedule
    from glt.training.problem import Arrays, Problem


EDGES_CHANGED = "solver_edges_changed"


class ADMMOptions(BaseModel):
    """Settings of the solver; the authors' where they are known, iterations capped near the cost of a UGS round."""

    admm_hidden: Count = Field(16, description="Hidden units of the network the adjacency is solved under")
    admm_rho: Positive = Field(1e-3, description="Weight of the quadratic term that ties values to their projection")
    admm_learning_rate: Positive = Field(1e-3, description="Adam step size on the edge values")
    admm_weight_decay: NonNegative = Field(5e-4, description="Weight decay on the edge values")
    admm_iterations: Count = Field(30, description="Most ADMM iterations a round")
    admm_steps: Count = Field(10, description="Adam steps an iteration")
    admm_patience: Count = Field(10, description="Iterations without a better validation score before it stops")
    admm_start_competes: Annotated[bool, AbsentMeans(True)] = Field(
        False,
        description="The projection of the start is kept unless an iterate has a strictly better validation score",
    )


class ADMM(Method):
    """Each round solves for its own target from the full graph, so rounds need not be nested."""

    name = "admm"
    label = "ADMM"
    description = "Solves for a sparse adjacency under a trained network (SGCN); weights go by magnitude, in one shot."
    nested = False
    cause = "solver"
    ignores = frozenset({"gamma_graph", "gamma_weight"})
    Options = ADMMOptions

    def next_masks(self, context: RoundContext) -> Proposal:
        """Solve for the round's number of undirected edges, then for its number of weights."""
        solved = solved_edges(context)
        kind = context.config.edge_mask
        edges = EdgeMask(kind, np.tile(solved.keep, 2) if kind == "directed" else solved.keep)
        return Proposal(Masks(edges, one_shot_magnitude(context, edges)), notes=notes_of(solved))

    def search_epochs(self, config: RunConfig) -> int:
        """Count the small network's training and the one whose weights are pruned; solver steps are short."""
        return 2 * config.epochs

    def note_words(self, notes: Mapping[str, Note]) -> str:
        """Say whether the solver left its start, and how the validation scores of the two compare.

        >>> ADMM().note_words({"solver_iterate": 2, "solver_edges_changed": 9, "solver_start_validation": 0.776,
        ...                    "solver_validations": [0.77, 0.774]})
        'ADMM graph: 9 kept edges differ from the start (iterate 2 of 2; validation 77.4 %, start 77.6 %)'
        """
        try:
            solved = SolverNotes.model_validate(dict(notes))
        except ValidationError:
            return ""
        return solved.words()


class SolverNotes(BaseModel):
    """What a round's record says of the solver, see `glt.training.edge_solver.SolvedEdges`."""

    solver_iterate: int
    solver_edges_changed: int
    solver_start_validation: float
    solver_validations: list[float]

    def words(self) -> str:
        """Say in a line what came out."""
        changed, tried = self.solver_edges_changed, len(self.solver_validations)
        differ = f"{number_of(changed, 'kept edge')} differ{'s' if changed == 1 else ''} from the start"
        what = differ if changed else "the projection of the start"
        better = (
            f"iterate {self.solver_iterate} of {tried}" if self.solver_iterate else f"none of {tried} iterates better"
        )
        best = percent(max(self.solver_validations, default=math.nan))
        return f"ADMM graph: {what} ({better}; validation {best}, start {percent(self.solver_start_validation)})"


def solved_edges(context: RoundContext) -> SolvedEdges:
    """Choose the round's undirected edges; both directions of an edge share one value and one fate."""
    from glt.training.edge_solver import SolverSettings, solve_edges

    options, config = context.options, context.config
    problem = small_problem(context)
    names = ("rho", "learning_rate", "weight_decay", "iterations", "steps", "patience", "start_competes")
    return solve_edges(
        problem,
        trained_small_network(context, problem),
        remaining_after(config.p_graph, problem.graph.num_edges, context.round),
        SolverSettings(**{name: getattr(options, f"admm_{name}") for name in names}),
        context.random("edge solver"),
        lambda iteration: context.pulse("edge solver", iteration, options.admm_iterations),
    )


def notes_of(solved: SolvedEdges) -> dict[str, Note]:
    """Return what a round's record says of the solver."""
    return SolverNotes(
        solver_iterate=solved.iterate,
        solver_edges_changed=solved.changed,
        solver_start_validation=solved.start_score,
        solver_validations=list(solved.scores),
    ).model_dump()


def small_problem(context: RoundContext) -> Problem:
    """Return the same task for the network the adjacency is solved under, on the unpruned normalised adjacency."""
    changes = {"hidden": context.options.admm_hidden, "degree": "fixed", "edge_mask": "undirected"}
    return context.problem.under(context.config.model_copy(update=changes))


def trained_small_network(context: RoundContext, problem: Problem) -> Arrays:
    """Train the small network on the full graph and return its weights."""
    from glt.training.network import Network

    network = Network(problem, problem.full_masks(), problem.initial_weights(context.seed))
    result = context.train(network, _plain_schedule(context.config), "solver network")
    return {name.removeprefix("theta/"): value for name, value in result.best_tensors.items()}


def one_shot_magnitude(context: RoundContext, edges: EdgeMask) -> WeightMask:
    """Train all weights on the pruned graph and keep the round's number of largest ones, over all tensors."""
    from glt.training.network import Network

    full = context.problem.full_masks().weights
    network = Network(context.problem, Masks(edges, full), context.theta0)
    result = context.train(network, _plain_schedule(context.config), "weights to prune")
    magnitudes = {name: np.abs(result.best_tensors[f"theta/{name}"]) for name in full.keep}
    target = remaining_after(context.config.p_weight, full.total, context.round)
    return full.prune_exactly(magnitudes, full.total - target)


def _plain_schedule(config: RunConfig) -> Schedule:
    from glt.training.loop import Schedule

    return Schedule(config.epochs, config.learning_rate, config.weight_decay)


METHODS.register(ADMM())
