"""ADMM (SGCN, Li et al. 2020): solve for a sparse adjacency under a trained network, then prune weights once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, Field

from glt.config import Count, NonNegative, Positive, RunConfig
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.methods import METHODS
from glt.methods.base import Method, Proposal, RoundContext

if TYPE_CHECKING:
    from glt.training.loop import Schedule
    from glt.training.problem import Arrays, Problem


class ADMMOptions(BaseModel):
    """Settings of the solver; the authors' where they are known, iterations capped near the cost of a UGS round."""

    admm_hidden: Count = Field(16, description="Hidden units of the network the adjacency is solved under")
    admm_rho: Positive = Field(1e-3, description="Weight of the quadratic term that ties values to their projection")
    admm_learning_rate: Positive = Field(1e-3, description="Adam step size on the edge values")
    admm_weight_decay: NonNegative = Field(5e-4, description="Weight decay on the edge values")
    admm_iterations: Count = Field(30, description="Most ADMM iterations a round")
    admm_steps: Count = Field(10, description="Adam steps an iteration")
    admm_patience: Count = Field(10, description="Iterations without a better validation score before it stops")


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
        edges = sparse_adjacency(context)
        return Proposal(Masks(edges, one_shot_magnitude(context, edges)))

    def search_epochs(self, config: RunConfig) -> int:
        """Count the small network's training and the one whose weights are pruned; solver steps are short."""
        return 2 * config.epochs


def sparse_adjacency(context: RoundContext) -> EdgeMask:
    """Choose the round's undirected edges; both directions of an edge share one value and one fate."""
    from glt.training.edge_solver import SolverSettings, solve_edges

    options, config = context.options, context.config
    problem = small_problem(context)
    names = ("rho", "learning_rate", "weight_decay", "iterations", "steps", "patience")
    keep = solve_edges(
        problem,
        trained_small_network(context, problem),
        remaining_after(config.p_graph, problem.graph.num_edges, context.round),
        SolverSettings(**{name: getattr(options, f"admm_{name}") for name in names}),
        context.random("edge solver"),
        lambda iteration: context.pulse("edge solver", iteration, options.admm_iterations),
    )
    return EdgeMask(config.edge_mask, np.tile(keep, 2) if config.edge_mask == "directed" else keep)


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
