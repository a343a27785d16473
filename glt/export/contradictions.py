"""What in a ticket file cannot all be true, though its sums and shapes fit: each a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from glt.config import RunConfig
from glt.data import DATASETS, load_graph
from glt.export.ticket import Ticket
from glt.formats import count
from glt.masks import Masks, remaining_after
from glt.methods import METHODS
from glt.printable import one_line
from glt.seeds import LARGEST
from glt.training.tasks import TASKS, metric_of


def contradictions(ticket: Ticket) -> tuple[str, ...]:
    """Return a sentence for everything that the settings, the round, the data set or the task rule out."""
    about = ticket.about
    return (*_of_round(ticket), *_of_data(ticket), *_of_task(about.config, about.metric))


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


def _of_data(ticket: Ticket) -> Iterator[str]:
    config, data = ticket.about.config, ticket.about.data
    if data.name != config.dataset:
        yield f"Its graph is of {one_line(data.name)}, its settings say {one_line(config.dataset)}."
    # A link file holds the training part alone, whose hash is another than that of the whole data set.
    if config.task == "node" and data.hash is not None and data.hash != ticket.graph.content_hash:
        yield f"The hash it states of {one_line(data.name)} is not that of the graph it holds."
    elif _is_here(data.name) and data.hash != load_graph(data.name).content_hash:
        yield f"The hash it states of {data.name} is not that of {data.name} here."


def _is_here(dataset: str) -> bool:
    """Say whether a data set can be read without fetching it."""
    return dataset in DATASETS.names() and DATASETS.get(dataset).bundled


def _of_task(config: RunConfig, metric: str) -> Iterator[str]:
    task, own = TASKS.get(config.task), metric_of(config.dataset, config.task)
    if metric != own:
        yield f"Its metric is {one_line(metric)}, and that of {task.label.lower()} is {own}."
