"""Checking a ticket that came from elsewhere: the network is computed again and held against what the file says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glt.cost import macs
from glt.errors import DataError
from glt.export.stated import Stated, stated
from glt.export.ticket import Ticket, outputs

# Of the largest output where that is above 1: single precision is relative.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class TicketReport:
    """What a ticket file is, and how far its outputs are from those computed here; scores are fractions.

    `test` is the accuracy of the outputs computed here, None where the file holds no labels to tell it by (links).
    """

    run: str
    seed: int
    round: int
    dataset: str
    task: str
    model: str
    nodes: int
    edges: int
    entries_kept: int
    entries: int
    weights_kept: int
    weights: int
    metric: str
    recorded_test: float
    test: float | None
    max_output_difference: float
    tolerance: float
    graph_hash: str
    edge_mask: str
    class_names: tuple[str, ...]
    config: dict[str, Any]
    stated: tuple[Stated, ...]

    @property
    def passed(self) -> bool:
        """Whether the outputs are those the file states."""
        return self.max_output_difference <= self.tolerance

    def as_json(self) -> dict[str, Any]:
        """Return the document `glt import --json` prints."""
        return {**asdict(self), "passed": self.passed, "differs": [each.name for each in self.stated if each.differs]}


def check(ticket: Ticket, path: Path) -> TicketReport:
    """Compute the network of a ticket again and hold what its file states against it; DataError for a damaged one."""
    found = outputs(ticket.about.config, ticket.graph, ticket.masks, ticket.weights)
    if found.shape != ticket.outputs.shape:
        raise DataError(f"{path} is damaged (outputs of shape {ticket.outputs.shape}): export the ticket again.")
    # Without numbers to compare, the comparison fails instead of passing by chance.
    difference = np.nan_to_num(np.abs(found - ticket.outputs), nan=np.inf)
    return _report(ticket, found, float(difference.max(initial=0.0)))


def _report(ticket: Ticket, found: np.ndarray, difference: float) -> TicketReport:
    about, masks = ticket.about, ticket.masks
    test = _accuracy(ticket, found) if about.config.task == "node" else None
    return TicketReport(
        run=about.run,
        seed=about.seed,
        round=about.record.round,
        dataset=about.data.name,
        task=about.config.task,
        model=about.config.model,
        nodes=ticket.graph.num_nodes,
        edges=ticket.graph.num_edges,
        entries_kept=masks.edges.kept,
        entries=masks.edges.keep.size,
        weights_kept=masks.weights.kept,
        weights=masks.weights.total,
        metric=about.metric,
        recorded_test=about.record.test,
        test=test,
        max_output_difference=difference if np.isfinite(difference) else float(np.finfo(np.float32).max),
        tolerance=TOLERANCE * max(1.0, float(np.abs(found).max(initial=0.0))),
        graph_hash=ticket.graph.content_hash,
        edge_mask=masks.edges.kind,
        class_names=about.class_names,
        config=about.config.model_dump(mode="json"),
        stated=stated(about.record, masks, test, macs(about.config, ticket.graph, masks).totals),
    )


def _accuracy(ticket: Ticket, found: np.ndarray) -> float | None:
    nodes = ticket.graph.split.test
    return float((found[nodes].argmax(axis=1) == ticket.graph.labels[nodes]).mean()) if nodes.size else None
