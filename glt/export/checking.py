"""Checking a ticket that came from elsewhere: the network is computed again and held against what the file says."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glt.cost import macs
from glt.errors import DataError
from glt.export.contradictions import contradictions
from glt.export.stated import SCORES, Stated, stated
from glt.export.ticket import Ticket, outputs
from glt.export.unchecked import unchecked
from glt.printable import one_line
from glt.training.evaluators import evaluator_of, node_score

# Of the largest output where that is above 1: single precision is relative.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class TicketReport:
    """What a ticket file is, and how far its outputs are from those computed here; scores are fractions.

    `test` is the score of the outputs computed here, None where the file holds nothing to tell it by (links).
    `max_output_difference` is over the outputs that are numbers; `not_numbers` counts the others, there or here.
    `contradictions` are sentences, one for each thing that cannot be true beside the rest of the file; `unchecked`
    names what else is stated and cannot be checked here, by its place in ticket.json.
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
    not_numbers: int
    contradictions: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether outputs and numbers that can be found again are those the file states, and nothing is ruled out."""
        told = all(each.possible and not each.differs for each in self.stated)
        return self.outputs_agree and told and not self.contradictions

    @property
    def outputs_agree(self) -> bool:
        """Whether the outputs are those the file states."""
        return not self.not_numbers and self.max_output_difference <= self.tolerance

    @property
    def differs(self) -> list[str]:
        """The names of the numbers that are not those found."""
        return [each.name for each in self.stated if each.differs]

    @property
    def impossible(self) -> list[str]:
        """The names of the numbers that no run could have."""
        return [each.name for each in self.stated if not each.possible]

    def as_json(self) -> dict[str, Any]:
        """Return the document `glt import --json` prints."""
        names = ("passed", "outputs_agree", "differs", "impossible")
        return {**asdict(self), **{name: getattr(self, name) for name in names}}


def check(ticket: Ticket, path: Path) -> TicketReport:
    """Compute the network of a ticket again and hold what its file states against it; DataError for a damaged one."""
    found = outputs(ticket.about.config, ticket.graph, ticket.masks, ticket.weights)
    if found.shape != ticket.outputs.shape:
        raise DataError(f"{path} is damaged (outputs of shape {ticket.outputs.shape}): export the ticket again.")
    return _report(ticket, found)


def _report(ticket: Ticket, found: np.ndarray) -> TicketReport:
    about, masks = ticket.about, ticket.masks
    scores = _scores(ticket, found)
    counted = macs(about.config, ticket.graph, masks).totals
    with np.errstate(over="ignore", invalid="ignore"):
        difference = np.abs(found - ticket.outputs)
    numbers = np.isfinite(difference)
    return TicketReport(
        run=one_line(about.run),
        seed=about.seed,
        round=about.record.round,
        dataset=one_line(about.data.name),
        task=about.config.task,
        model=about.config.model,
        nodes=ticket.graph.num_nodes,
        edges=ticket.graph.num_edges,
        entries_kept=masks.edges.kept,
        entries=masks.edges.keep.size,
        weights_kept=masks.weights.kept,
        weights=masks.weights.total,
        metric=one_line(about.metric),
        recorded_test=about.record.test,
        test=scores.get("test"),
        max_output_difference=float(difference.max(initial=0.0, where=numbers)),
        tolerance=TOLERANCE * max(1.0, float(np.abs(found).max(initial=0.0, where=np.isfinite(found)))),
        graph_hash=ticket.graph.content_hash,
        edge_mask=masks.edges.kind,
        class_names=tuple(map(one_line, about.class_names)),
        config=about.config.model_dump(mode="json"),
        stated=stated(about.record, about.search_seconds, about.config, masks, scores, counted),
        not_numbers=int((~numbers).sum()),
        contradictions=contradictions(ticket),
        unchecked=unchecked(about),
    )


def _scores(ticket: Ticket, found: np.ndarray) -> dict[str, float]:
    """Return the scores that a file holds labels or targets for: none where the task is links."""
    if ticket.about.config.task != "node":
        return {}
    parts = {name: getattr(ticket.graph.split, name) for name in SCORES}
    scores = {name: _score(ticket, found, nodes) for name, nodes in parts.items() if nodes.size}
    return {name: score for name, score in scores.items() if score is not None}


def _score(ticket: Ticket, found: np.ndarray, nodes: np.ndarray) -> float | None:
    """Return accuracy, or of binary targets their ROC-AUC; None for outputs or targets that have none."""
    targets = ticket.graph.targets
    if targets is None:
        return float((found[nodes].argmax(axis=1) == ticket.graph.labels[nodes]).mean())
    with suppress(DataError):
        return node_score(evaluator_of(ticket.about.config.dataset), targets[nodes], found[nodes])
    return None
