"""Verification of a ticket file: recomputation, and a list of what cannot be verified.

Checksums are compared when the file is opened (`glt.ticket_file.io`). Here the network runs again on its surviving
edges; scores, counts, MACs and hashes are recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from glt.config import RunConfig
from glt.cost import macs
from glt.datasets import DATASETS, Graph, load_graph
from glt.datasets.registry import current_hash
from glt.errors import ConfigError, DataError, brief, one_line
from glt.formats import count
from glt.methods import METHODS
from glt.models import MODELS
from glt.seeds import LARGEST
from glt.store import RoundRecord, run_name
from glt.ticket_file.schema import About
from glt.ticket_file.ticket import Floats, Ticket, outputs
from glt.training.metrics import evaluator_of, node_score
from glt.training.tasks import TASKS, metric_of

# Relative to the largest output if that is above 1.
TOLERANCE = 1e-5
# One test node of a few hundred may change its class if sums are computed in another order.
SCORE_TOLERANCE = 0.005
SHARE_TOLERANCE = 1e-9
SHARES = ("graph_sparsity", "weight_sparsity", "edges_kept_either_way", "edges_kept_both_ways")

# Fields of ticket.json that are recomputed or listed in `stated`.
VERIFIED = {"format", "version", "config", "edge_mask", "record", "search_seconds", "metric"}
VERIFIED_SETTINGS = {"dataset", "task", "model", "edge_mask", "degree", "hidden", "layers", "options"}
# Fields that the graph's hash does not cover; compared with a bundled data set of the same hash.
NAMES = ("class_names", "node_ids", "data.name", "data.raw_rows", "data.duplicates_dropped", "data.self_loops_dropped")
TABLES = ("data", "environment", "written_by")


@dataclass(frozen=True)
class Stated:
    """A number by its name in `show --json`: in the file, and recomputed (None: cannot be).

    `possible` is False for a number that no run can have.
    """

    name: str
    in_file: float
    found: float | None
    differs: bool
    possible: bool = True


@dataclass(frozen=True)
class TicketReport:
    """The contents of a ticket file and the result of its verification; scores are fractions.

    `test` is the recomputed score, None for links, whose held-out edges are not in the file. `max_output_difference`
    is over finite outputs; `not_numbers` counts the others. `contradictions` are sentences; `unchecked` lists the
    fields of ticket.json that cannot be verified.
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
        """Whether outputs and numbers agree and there are no contradictions."""
        return self.outputs_agree and not (self.differs or self.impossible or self.contradictions)

    @property
    def outputs_agree(self) -> bool:
        """Whether the outputs equal those in the file."""
        return not self.not_numbers and self.max_output_difference <= self.tolerance

    @property
    def differs(self) -> list[str]:
        """Names of the numbers that differ when recomputed."""
        return [each.name for each in self.stated if each.differs]

    @property
    def impossible(self) -> list[str]:
        """Names of the numbers that no run can have."""
        return [each.name for each in self.stated if not each.possible]

    def as_json(self) -> dict[str, Any]:
        """Return the document of `glt import --json`."""
        names = ("passed", "outputs_agree", "differs", "impossible")
        return {**asdict(self), **{name: getattr(self, name) for name in names}}


def check(ticket: Ticket, path: Path) -> TicketReport:
    """Run the network of a ticket again and compare; raise DataError for outputs of another shape."""
    about, graph, masks = ticket.about, ticket.graph, ticket.masks
    found = outputs(about.config, graph, masks, ticket.weights)
    if found.shape != ticket.outputs.shape:
        raise DataError(f"{path} is damaged (outputs of shape {ticket.outputs.shape}): export the ticket again.")
    with np.errstate(over="ignore", invalid="ignore"):
        difference = np.abs(found - ticket.outputs)
    numbers = np.isfinite(difference)
    scores = _scores(ticket, found)
    return TicketReport(
        run=one_line(about.run),
        seed=about.seed,
        round=about.record.round,
        dataset=one_line(about.data.name),
        task=about.config.task,
        model=about.config.model,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        entries_kept=masks.edges.kept,
        entries=masks.edges.keep.size,
        weights_kept=masks.weights.kept,
        weights=masks.weights.total,
        metric=one_line(about.metric),
        recorded_test=about.record.test,
        test=scores.get("test"),
        max_output_difference=float(difference.max(initial=0.0, where=numbers)),
        tolerance=TOLERANCE * max(1.0, float(np.abs(found).max(initial=0.0, where=np.isfinite(found)))),
        graph_hash=graph.content_hash,
        edge_mask=masks.edges.kind,
        class_names=tuple(map(one_line, about.class_names)),
        config=about.config.model_dump(mode="json"),
        stated=_stated(ticket, scores),
        not_numbers=int((~numbers).sum()),
        contradictions=contradictions(ticket),
        unchecked=unchecked(about),
    )


def _scores(ticket: Ticket, found: Floats) -> dict[str, float]:
    """Return the scores of outputs [N, C]; none for links, whose held-out edges are missing."""
    if ticket.about.config.task != "node":
        return {}
    graph = ticket.graph
    scores = {}
    for name, nodes in (("test", graph.split.test), ("val", graph.split.val)):
        if nodes.size and graph.targets is None:
            scores[name] = float((found[nodes].argmax(axis=1) == graph.labels[nodes]).mean())
        elif nodes.size and graph.targets is not None:
            # Constant targets have no ROC-AUC.
            with suppress(DataError):
                evaluator = evaluator_of(ticket.about.config.dataset)
                scores[name] = node_score(evaluator, graph.targets[nodes], found[nodes])
    return scores


def _stated(ticket: Ticket, scores: dict[str, float]) -> tuple[Stated, ...]:
    """Return every number of the record with its recomputed value.

    The last epoch's score, the best epoch and seconds cannot be recomputed: only their bounds are checked.
    """
    about, record = ticket.about, ticket.about.record
    counted = macs(about.config, ticket.graph, ticket.masks).totals
    measured = record.model_dump(include={"val", "test", "test_last", "best_epoch", "seconds"})
    again = RoundRecord.of(record.round, ticket.masks, **measured, macs=counted)
    return (
        *(_compared(name, getattr(record, name), scores.get(name), SCORE_TOLERANCE, 1) for name in ("test", "val")),
        *(_compared(name, getattr(record, name), getattr(again, name), SHARE_TOLERANCE) for name in SHARES),
        *(_compared(f"macs.{name}", record.macs[name], again.macs[name]) for name in record.macs),
        _compared("test_last", record.test_last, most=1),
        _compared("best_epoch", record.best_epoch, most=about.config.retrain_epochs - 1),
        _compared("seconds", record.seconds),
        _compared("search_seconds", about.search_seconds),
    )


def _compared(name: str, in_file: float, found: float | None = None, tolerance: float = 0, most: float = inf) -> Stated:
    # Negated, so that NaN differs from every number.
    differs = found is not None and not abs(in_file - found) <= tolerance
    return Stated(name, in_file, found, differs, 0 <= in_file <= most)


def contradictions(ticket: Ticket) -> tuple[str, ...]:
    """Return a sentence for each contradiction between settings, masks and graph."""
    return (*_of_settings(ticket.about), *_of_masks(ticket), *_of_data(ticket))


def _of_settings(about: About) -> Iterator[str]:
    config = about.config
    if not 0 <= about.seed <= LARGEST:
        yield f"The seed is {about.seed}; valid seeds are 0 to {LARGEST}."
    if about.edge_mask != config.edge_mask:
        yield f"The edge mask is {about.edge_mask}, but {config.edge_mask} in the settings."
    if about.record.round > config.rounds:
        yield f"The round is {about.record.round}, but the last one in the settings is {config.rounds}."
    metric = metric_of(config.dataset, config.task)
    if about.metric != metric:
        yield f"The metric is {one_line(about.metric)}, but {TASKS.get(config.task).label.lower()} has {metric}."
    if config.method in METHODS.names():
        # The name ends with a hash of the settings.
        name = ""
        with suppress(ConfigError):
            name = run_name(config)
        if about.run != name:
            yield f"The run is named {brief(one_line(about.run))}, but its settings belong to {name or 'no run'}."


def _of_masks(ticket: Ticket) -> Iterator[str]:
    config, round = ticket.about.config, ticket.about.record.round
    if config.method not in METHODS.names() or round > config.rounds:
        return
    edges, weights = ticket.masks.edges, ticket.masks.weights
    # A method that removes whole edges rounds the number of edges, others that of entries.
    entries_an_edge = edges.keep.size // edges.num_edges if edges.num_edges else 1
    method = METHODS.get(config.method)
    (entries, left), (whole, _) = (
        method.remaining(config, round, size, weights.total) for size in (edges.keep.size, edges.num_edges)
    )
    fixed = method.settings_fix_counts(config)
    for rate, what, kept, possible, is_fixed in (
        ("p_graph", "edge entries", edges.kept, (entries, entries_an_edge * whole), fixed[0]),
        ("p_weight", "weights", weights.kept, (left,), fixed[1]),
    ):
        if is_fixed and kept not in possible:
            needed = f"{count(possible[0])} {what} must be left"
            rate_words = f"{rate} {getattr(config, rate)}"
            yield f"After round {round} at {rate_words}, {needed}; the file has {count(kept)}."


def _of_data(ticket: Ticket) -> Iterator[str]:
    about, config, data = ticket.about, ticket.about.config, ticket.about.data
    name, bundled = one_line(data.name), _bundled(data.hash)
    if data.name != config.dataset:
        yield f"The data set is {name}, but {one_line(config.dataset)} in the settings."
    # A link file contains the training graph, so its hash differs from that of the data set.
    if config.task == "node" and data.hash not in (None, ticket.graph.content_hash):
        yield f"The stated hash of {name} differs from that of the graph in the file."
    elif bundled is None and data.name in DATASETS.names() and DATASETS.get(data.name).bundled:
        yield f"The stated hash of {name} differs from that of the bundled {name}."
    elif bundled is not None:
        if not TASKS.get(config.task).message_graph(bundled, config).has_content(ticket.graph.content_hash):
            yield f"The graph in the file differs from {bundled.name}."
        source = data.model_dump(include=set(vars(bundled.provenance)) - {"source"})
        if any(getattr(bundled.provenance, field) != value for field, value in source.items()):
            yield f"The stated row counts differ from those of {bundled.name}."
        if (data.name, about.class_names, about.node_ids) != (bundled.name, bundled.class_names, bundled.node_ids):
            yield f"The names of the data set, its classes or its nodes differ from those of {bundled.name}."


def _bundled(recorded: str | None) -> Graph | None:
    """Return the bundled data set with a content hash, if any."""
    if recorded is None:
        return None
    known, graphs = current_hash(recorded), (load_graph(spec.name) for spec in DATASETS if spec.bundled)
    return next((graph for graph in graphs if graph.content_hash == known), None)


def unchecked(about: About) -> tuple[str, ...]:
    """Return the fields that cannot be verified, as "config.epochs", without those in `stated`."""
    known = about.config.method in METHODS.names()
    verified = VERIFIED | ({"run"} if known else set())
    bundled = _bundled(about.data.hash) is not None
    if bundled:
        verified |= {*NAMES}
    if bundled or about.config.task == "node":
        verified |= {"data.hash"}
    settings = VERIFIED_SETTINGS | ({"p_graph", "p_weight"} if known else set())
    shaping = MODELS.get(about.config.model).Options.model_fields
    places = (
        *(name for name in _places(about) if name not in verified),
        *(f"config.{name}" for name in RunConfig.model_fields if name not in settings),
        *(f"config.options.{name}" for name in about.config.options if name not in shaping),
    )
    return tuple(map(brief, places))


def _places(about: About) -> Iterator[str]:
    """Yield the names of non-empty fields, those of tables by key."""
    for name, value in about:
        if name in TABLES:
            yield from (f"{name}.{key}" for key, entry in dict(value).items() if entry is not None)
        elif value not in (None, ()):
            yield name
