"""Initial weights theta_0: random, with a pre-trained first layer if a run asks for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig, pretraining_of
from glt.datasets.graph import Graph
from glt.errors import ConfigError, DataError, StoreError, quoted
from glt.formats import as_typed
from glt.pretraining.config import FIRST_LAYER, check_fit
from glt.store import FirstLayer, Pretraining, Run, SeedRun, Store, run_name

ENVIRONMENT_KEY = "pretraining"
Arrays = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class FirstLayerSource:
    """A pre-trained first layer, with the run and seed it comes from."""

    run: str
    seed: int
    layer: FirstLayer

    def record(self) -> dict[str, Any]:
        """Return the entry for environment.json, which a resume compares."""
        return {"run": self.run, "seed": self.seed, "sha256": self.layer.sha256}


def check_start(store: Store, config: RunConfig, seeds: Sequence[int]) -> dict[int, int]:
    """Return the pre-training's seed for each seed; empty for a random start.

    Raises ConfigError or StoreError if the run named by `pretraining` is unknown, not finished or does not fit.
    """
    name = pretraining_of(config)
    if name is None:
        return {}
    pretraining = _find(store, name, config)
    check_fit(config, name, pretraining.config)
    return {seed: _seed_for(pretraining, seed) for seed in seeds}


def source_of(seed_run: SeedRun) -> FirstLayerSource | None:
    """Return the recorded or chosen source of a seed's first layer; None for a random start."""
    name = pretraining_of(seed_run.config)
    if name is None:
        return None
    pretraining = _find(Store.around(seed_run), name, seed_run.config)
    recorded = seed_run.environment().get(ENVIRONMENT_KEY)
    seed = recorded["seed"] if isinstance(recorded, dict) else _seed_for(pretraining, seed_run.seed)
    return FirstLayerSource(name, seed, pretraining.seed(seed).first_layer())


def with_first_layer(theta0: Arrays, source: FirstLayerSource | None, graph: Graph) -> Arrays:
    """Return theta_0 with its first layer from `source`, the rest unchanged.

    Raises DataError if it was trained on another graph than the message `graph`, or has another shape.
    """
    if source is None:
        return theta0
    if not graph.has_content(source.layer.graph_hash):
        raise DataError(
            f"{source.run} was pre-trained on a different graph than this run uses: pre-train again on this data, in "
            "another store or after deleting it."
        )
    shape, wanted = source.layer.weight.shape, theta0[FIRST_LAYER].shape
    if shape != wanted:
        raise DataError(
            f"The first layer of {source.run} is {shape}, this run needs {wanted}: pre-train with that width."
        )
    return {**theta0, FIRST_LAYER: source.layer.weight}


def starts_of(run: Run, seeds: Sequence[int]) -> dict[int, int]:
    """Return the pre-training's seed, recorded or chosen now, for each of a run's seeds."""
    chosen = check_start(Store(run.path.parent, writable=False), run.config, seeds)
    recorded = {seed: run.seed(seed).environment().get(ENVIRONMENT_KEY) for seed in chosen}
    return {seed: known["seed"] if (known := recorded[seed]) else chosen[seed] for seed in chosen}


def start_words(name: str, seeds: Mapping[int, int]) -> str:
    """Return a sentence on which seed of a pre-training each seed starts from.

    >>> start_words("a-run", {0: 0, 1: 0})
    'theta_0: first layer from a-run (seed 0 from its seed 0, seed 1 from its seed 0), the rest random.'
    """
    pairs = ", ".join(f"seed {seed} from its seed {source}" for seed, source in seeds.items())
    return f"theta_0: first layer from {name} ({pairs}), the rest random."


def _find(store: Store, name: str, config: RunConfig) -> Pretraining:
    try:
        found = store.find_pretraining(name, run_name(config))
    except StoreError as error:
        raise ConfigError(f"pretraining cannot be {quoted(name)}: {error}") from None
    if found.name != name:
        raise ConfigError(
            f"pretraining cannot be the path {quoted(name)}: set it to the name of a pre-training run in the store."
        )
    return found


def _seed_for(pretraining: Pretraining, seed: int) -> int:
    """Return the same seed if finished, else the first finished one."""
    finished = pretraining.finished()
    if not finished:
        raise ConfigError(f"{pretraining.name} is not finished: run `{as_typed('resume', pretraining.name)}`.")
    return seed if seed in finished else finished[0]
