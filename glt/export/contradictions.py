"""What in a ticket file cannot all be true, though its sums and shapes fit: each a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from glt.config import RunConfig
from glt.errors import ConfigError
from glt.export.about import About
from glt.export.data_here import data_contradictions
from glt.export.ticket import Ticket
from glt.formats import count
from glt.masks import Masks, remaining_after
from glt.methods import METHODS
from glt.printable import brief, one_line
from glt.seeds import LARGEST
from glt.store import run_name
from glt.store.paths import has_run_name
from glt.training.tasks import TASKS, metric_of


def contradictions(ticket: Ticket) -> tuple[str, ...]:
    """Return a sentence for everything that the settings, the run, the round, the data set or the task rule out."""
    about = ticket.about
    return (*_of_run(about), *_of_round(ticket), *data_contradictions(ticket), *_of_task(about))


def _of_round(ticket: Ticket) -> Iterator[str]:
    about = ticket.about
    round_, rounds = about.record.round, about.config.rounds
    if not 0 <= about.seed <= LARGEST:
        yield f"Its seed is {about.seed}, and seeds are 0 to {LARGEST}."
    if about.edge_mask != about.config.edge_mask:
        yield f"Its edge mask is {about.edge_mask}, its settings say {about.config.edge_mask}."
    # The same epoch has one score.
    if about.record.best_epoch == about.config.retrain_epochs - 1 and about.record.test_last != about.record.test:
        yield "Its best epoch is the last one, but it states two test scores for it."
    if round_ > rounds:
        yield f"It is of round {round_}, and its settings end at round {rounds}."
    elif about.config.method in METHODS.names():
        yield from _of_masks(ticket.masks, about.config, round_)


def _of_masks(masks: Masks, config: RunConfig, round_: int) -> Iterator[str]:
    edges, weights = masks.edges, masks.weights
    listed = edges.keep.size // edges.num_edges if edges.num_edges else 1
    # A method that removes whole edges rounds on edges, the others on entries.
    whole = listed * remaining_after(config.p_graph, edges.num_edges, round_)
    left = remaining_after(config.p_graph, edges.keep.size, round_)
    when = f"At round {round_}"
    if edges.kept not in (left, whole):
        yield f"{when} p_graph {config.p_graph} leaves {count(left)} edge entries, it has {count(edges.kept)}."
    left = remaining_after(config.p_weight, weights.total, round_)
    if weights.kept != left:
        yield f"{when} p_weight {config.p_weight} leaves {count(left)} weights, it has {count(weights.kept)}."


def _of_run(about: About) -> Iterator[str]:
    """Hold the name of the run against the settings, whose hash it ends in."""
    config, told = about.config, one_line(about.run)
    begin = "-".join((config.dataset, config.task, config.model, config.method))
    if config.method not in METHODS.names():
        # Which of its settings such a method ignores is not known here, so the hash is not either.
        if not (has_run_name(about.run) and about.run.rpartition("-")[0] == begin):
            yield f"It says its run is {brief(told)}, and its settings are of a run {one_line(begin)}-..."
        return
    with suppress(ConfigError):
        begin = run_name(config)
    if about.run != begin:
        yield f"It says its run is {brief(told)}, and its settings are those of {one_line(begin)}."


def _of_task(about: About) -> Iterator[str]:
    metric = metric_of(about.config.dataset, about.config.task)
    if about.metric != metric:
        task = TASKS.get(about.config.task).label.lower()
        yield f"Its metric is {one_line(about.metric)}, and that of {task} is {metric}."
