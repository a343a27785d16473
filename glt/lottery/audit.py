"""The audit: delete pruned edges and weights, and compare the logits with masked ones.

Both evaluations use double precision: deletion changes the order of sums, which in single precision can move a logit
of a wide GAT by more than the tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from glt.lottery.graph import whole_graph_of
from glt.masks import EdgeMask, Masks
from glt.sparse import GraphOperator, features_of
from glt.store import SeedRun
from glt.training.batching import forward
from glt.training.problem import Arrays, Problem

TOLERANCE = 1e-5
DOUBLE = torch.float64


@dataclass(frozen=True)
class AuditReport:
    """The largest difference of a logit after deletion, and both test scores.

    `why` names the setting that deliberately keeps pruned edges in use, if any.
    """

    round: int
    max_logit_difference: float
    tolerance: float
    edge_entries_deleted: int
    weights_deleted: int
    recorded_test: float
    test: float
    why: str | None = None

    @property
    def passed(self) -> bool:
        """Whether no logit moved by more than the tolerance."""
        return self.max_logit_difference <= self.tolerance

    def as_json(self) -> dict[str, object]:
        """Return the document of `glt audit --json`."""
        return {**asdict(self), "passed": self.passed}


def audit(seed_run: SeedRun, round: int) -> AuditReport:
    """Audit one round of a seed on the CPU.

    Raises StoreError if the round or its weights are not in the store, DataError if the data set has changed.
    """
    record = seed_run.record(round)
    problem = Problem(seed_run.config, whole_graph_of(seed_run))
    masks, weights = seed_run.masks(round), seed_run.weights(round)
    multiplied = multiplied_logits(problem, masks, weights)
    deleted = deleted_logits(problem, masks, weights)
    return AuditReport(
        round=round,
        max_logit_difference=float((multiplied - deleted).abs().max()),
        tolerance=TOLERANCE,
        edge_entries_deleted=masks.edges.keep.size - masks.edges.kept,
        weights_deleted=masks.weights.total - masks.weights.kept,
        recorded_test=record.test,
        test=problem.task.scores(deleted, _tensors(weights)).test,
        why=problem.model.keeps_pruned_edges(problem.config),
    )


def multiplied_logits(problem: Problem, masks: Masks, weights: Arrays) -> Tensor:
    """Evaluate the full network multiplied by its 0/1 masks."""
    everything = problem.full_masks().edges
    factors = torch.from_numpy(masks.edges.keep).to(DOUBLE)
    tensors = {name: value * _keep(masks, name) for name, value in _tensors(weights).items()}
    return _forward(problem, everything, tensors, factors)


def deleted_logits(problem: Problem, masks: Masks, weights: Arrays) -> Tensor:
    """Evaluate on surviving edges and surviving weights (sparse CSR) only."""
    tensors = _tensors(weights)
    for name in masks.weights.keep:
        tensors[name] = (tensors[name] * _keep(masks, name)).to_sparse_csr()
    return _forward(problem, masks.edges, tensors)


def _forward(
    problem: Problem, edges: EdgeMask, weights: Mapping[str, Tensor], edge_values: Tensor | None = None
) -> Tensor:
    operator = GraphOperator(problem.graph, edges, dtype=DOUBLE)
    features = features_of(problem.graph, dtype=DOUBLE)
    return forward(problem.config, operator, features, weights, edge_values)


def _keep(masks: Masks, name: str) -> Tensor:
    keep = masks.weights.keep.get(name)
    return torch.ones((), dtype=torch.bool) if keep is None else torch.from_numpy(keep)


def _tensors(weights: Arrays) -> dict[str, Tensor]:
    return {name: torch.from_numpy(value).to(DOUBLE) for name, value in weights.items()}
