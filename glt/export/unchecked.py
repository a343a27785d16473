"""What a ticket file states and nothing can be held against, by its place in ticket.json."""

from __future__ import annotations

from collections.abc import Iterator

from glt.config import RunConfig
from glt.export.about import About
from glt.export.data_here import COUNTS, same_here
from glt.methods import METHODS
from glt.models import MODELS
from glt.printable import brief

# What tensors, masks, outputs or settings bear out; a field that is not named here is told to be unchecked. The numbers
# of the round and the time of the search have a list of their own.
HELD = {"format", "version", "run", "config", "edge_mask", "record", "search_seconds", "metric"}
HELD_SETTINGS = {"dataset", "task", "model", "edge_mask", "degree", "hidden", "layers", "options"}
TABLES = {"data", "environment", "written_by"}
RATES = {"p_graph", "p_weight"}


def unchecked(about: About) -> tuple[str, ...]:
    """Return the names of all that is stated and not checked here, as "config.epochs"; numbers of the round aside."""
    held = {*HELD, *_held_of_data(about)}
    places = (name for name in _places(about) if name not in held)
    return tuple(map(brief, (*places, *_of_settings(about.config))))


def _places(about: About) -> Iterator[str]:
    """Name each field that says something, and one by one what the fields that are tables hold."""
    for name, value in about:
        if name in TABLES:
            yield from (f"{name}.{key}" for key, entry in dict(value).items() if entry is not None)
        elif value not in (None, ()):
            yield name


def _held_of_data(about: About) -> Iterator[str]:
    known = same_here(about.data) is not None
    if known:
        yield from ("class_names", "node_ids", "data.name", *(f"data.{name}" for name in COUNTS))
    # The graph of a link file is not the whole one.
    if known or about.config.task == "node":
        yield "data.hash"
    if about.data.hash is not None:
        yield "environment.data_hash"


def _of_settings(config: RunConfig) -> Iterator[str]:
    """Name the settings that leave no trace in a trained network."""
    held = HELD_SETTINGS | (RATES if config.method in METHODS.names() else set())
    yield from (f"config.{name}" for name in RunConfig.model_fields if name not in held)
    shaping = MODELS.get(config.model).Options.model_fields
    yield from (f"config.options.{name}" for name in config.options if name not in shaping)
