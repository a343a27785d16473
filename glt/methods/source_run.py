"""Masks of another run: whether a finished run of the store can lend its edges or its weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from glt.config import RunConfig, options_of
from glt.errors import ConfigError
from glt.methods.base import OtherRun
from glt.models import MODELS
from glt.training.tasks import TASKS

Half = Literal["edges", "weights"]
# Runs that differ in one of these have masks of another shape or problem.
SHARED: dict[Half, tuple[str, ...]] = {
    "edges": ("dataset", "task", "edge_mask"),
    "weights": ("dataset", "task", "model", "hidden", "layers"),
}


def check_source(
    config: RunConfig, source: OtherRun, halves: Iterable[Half], seeds: Sequence[int], last_round: int
) -> None:
    """Raise ConfigError if a run cannot lend these halves of its masks.

    Settings that shape them must be equal, and `last_round` of all seeds finished.
    """
    halves = tuple(halves)
    own, others = shaping_settings(config, halves), shaping_settings(source.config, halves)
    for field in (name for name in others if name in own):
        if own[field] != others[field]:
            raise ConfigError(
                f"{field} is {own[field]!r}, but {others[field]!r} in {source.name}: masks need equal settings."
            )
    for seed in seeds:
        finished = source.seed(seed).whole_rounds() - 1 if seed in source.seeds() else -1
        if finished < last_round:
            available = "no rounds" if finished < 0 else f"only {finished} of {last_round} rounds"
            raise ConfigError(f"Seed {seed} of {source.name} has {available}: finish it first, or lower rounds.")


def shaping_settings(config: RunConfig, halves: Iterable[Half]) -> dict[str, object]:
    """Return the settings that shape these halves of the masks: SHARED, and the options of model and task.

    Options have their defaults where absent. The model does not shape the edge mask.
    """
    found: dict[str, object] = {}
    for half in halves:
        found |= {name: getattr(config, name) for name in SHARED[half]}
        found |= options_of(config.options, TASKS.get(config.task).Options).model_dump()
        if half == "weights":
            found |= options_of(config.options, MODELS.get(config.model).Options).model_dump()
    return found
