"""What a ticket file states of its data set, held against the sets that come with the program and published counts."""

from __future__ import annotations

from collections.abc import Iterator

from glt.data import DATASETS, DatasetSpec, Graph, load_graph
from glt.data.registry import current_hash
from glt.export.about import About, Source
from glt.export.ticket import Ticket
from glt.formats import count
from glt.printable import one_line

COUNTS = {
    "raw_rows": "rows as published",
    "duplicates_dropped": "duplicates",
    "self_loops_dropped": "self-loops",
}


def same_here(data: Source) -> Graph | None:
    """Return the bundled data set of the hash that a file states, which needs no download; None where none has it."""
    if data.hash is None:
        return None
    known, bundled = current_hash(data.hash), (load_graph(spec.name) for spec in DATASETS if spec.bundled)
    return next((graph for graph in bundled if graph.content_hash == known), None)


def data_contradictions(ticket: Ticket) -> Iterator[str]:
    """Say in a sentence each what cannot be true of the data set that a file states."""
    config, data = ticket.about.config, ticket.about.data
    name, here = one_line(data.name), same_here(data)
    if data.name != config.dataset:
        yield f"Its graph is of {name}, its settings say {one_line(config.dataset)}."
    began = ticket.about.environment.get("data_hash", data.hash)
    if _current(data.hash) != _current(began):
        yield f"The hash it states of {name} is not that of the data it was computed on."
    # A link file holds the training part alone, whose hash is another than that of the whole data set.
    if config.task == "node" and data.hash is not None and data.hash != ticket.graph.content_hash:
        yield f"The hash it states of {name} is not that of the graph it holds."
    elif here is not None:
        yield from _beside(ticket.about, here)
    elif data.name in DATASETS.names() and DATASETS.get(data.name).bundled:
        yield f"The hash it states of {data.name} is not that of {data.name} here."
    if data.name in DATASETS.names():
        yield from _of_sizes(ticket, DATASETS.get(data.name))


def _current(recorded: object) -> object:
    return current_hash(recorded) if isinstance(recorded, str) else recorded


def _beside(about: About, here: Graph) -> Iterator[str]:
    """Say what differs from the data set here that has the hash a file states."""
    data = about.data
    if data.name != here.name:
        yield f"The hash it states of {one_line(data.name)} is that of {here.name} here."
    if about.class_names != here.class_names:
        yield f"The names it gives to classes are not those of {here.name} here."
    if about.node_ids != here.node_ids:
        yield f"The names it gives to nodes are not those of {here.name} here."
    for field, words in COUNTS.items():
        theirs, ours = getattr(data, field), getattr(here.provenance, field)
        if theirs != ours:
            yield f"It states {count(theirs)} {words} of {one_line(data.name)}, and {here.name} here had {count(ours)}."


def _of_sizes(ticket: Ticket, spec: DatasetSpec) -> Iterator[str]:
    """Hold the graph against published counts, but for sets of which a part may be at hand."""
    if spec.counted is not None:
        return
    graph = ticket.graph
    sizes = {"nodes": (graph.num_nodes, spec.nodes), "features": (graph.num_features, spec.features)}
    if ticket.about.config.task == "node":
        sizes["edges"] = graph.num_edges, spec.edges
    for what, (theirs, published) in sizes.items():
        if theirs != published:
            yield f"Its graph has {count(theirs)} {what}, and {spec.name} has {count(published)}."
