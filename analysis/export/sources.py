"""What a bundle's commands compute, in their order: runs behind the runs and pre-trainings that they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from glt.config import RunConfig
from glt.errors import StoreError
from glt.lottery.initial_weights import ENVIRONMENT_KEY
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.config import PretrainConfig, first_layer_width, pretraining_of, resolve_pretraining
from glt.store import KnownRun, Run, SeedRun, Store, run_name
from glt.store.run import KIND
from glt.store.sources import sources_of


@dataclass
class Step:
    """One run or pre-training to compute: its settings, its seeds, where it lies, and the run that needs it."""

    config: RunConfig | PretrainConfig
    found: KnownRun | None = None
    read_by: str = ""
    needed: set[int] = field(default_factory=set)

    @property
    def seeds(self) -> list[int]:
        """The seeds to compute, in ascending order."""
        return sorted(self.needed)

    def document(self) -> dict[str, Any]:
        """Return what a config.json with these settings holds."""
        kind = {} if isinstance(self.config, RunConfig) else {KIND: "pre-training"}
        return {"schema": 1, **kind, "config": self.config.model_dump(mode="json")}


@dataclass
class Steps:
    """All steps by name, what is needed before what needs it; `lost` are the sentences on what is not there."""

    chosen: Mapping[str, Run]
    by_name: dict[str, Step] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def sources(self) -> dict[str, Step]:
        """Return the steps that are no runs of the bundle."""
        return {name: step for name, step in self.by_name.items() if name not in self.chosen}


def steps_for(runs: Sequence[Run]) -> Steps:
    """Return everything that must be computed for these runs, each once."""
    steps = Steps({run.name: run for run in runs})
    for run in runs:
        _add_run(steps, run, run.seeds(), "")
    return steps


def lost_sources(runs: Sequence[Run]) -> list[str]:
    """Return a sentence for everything that these runs need and that nobody can compute again from their stores."""
    return steps_for(runs).lost


def _add_run(steps: Steps, run: Run, seeds: Sequence[int], read_by: str) -> None:
    for name in sources_of(run.config):
        _add_source(steps, run, name, seeds)
    _add(steps, run.name, Step(run.config, run, read_by), seeds)


def _add_source(steps: Steps, reader: Run, name: str, seeds: Sequence[int]) -> None:
    source = steps.chosen.get(name) or _in_store_of(reader, name)
    if isinstance(source, Run):
        _add_run(steps, source, seeds, reader.name)
        return
    config = _told_by_name(reader.config, name) if source is None else source.config
    if config is not None:
        started = {_started_from(reader.seed(seed)) for seed in seeds}
        _add(steps, name, Step(config, source, reader.name), started)
    else:
        steps.lost = list(dict.fromkeys([*steps.lost, _lost(reader.name, name)]))


def _add(steps: Steps, name: str, step: Step, seeds: Iterable[int]) -> None:
    steps.by_name.setdefault(name, step).needed.update(seeds)


def _in_store_of(reader: Run, name: str) -> KnownRun | None:
    """Return a run's source, which is found in the run's own store alone; None where it cannot be opened there."""
    try:
        return Store(reader.path.parent, writable=False).find_any(name)
    except StoreError:
        return None


def _told_by_name(config: RunConfig, name: str) -> PretrainConfig | None:
    """Return the settings of a pre-training that is gone, where its name is that of usual ones: it is their hash."""
    if pretraining_of(config) != name:
        return None
    like = {"dataset": config.dataset, "task": config.task, "hidden": first_layer_width(config)}
    usual = (resolve_pretraining({**like, "augmentation": each}) for each in AUGMENTATIONS.names())
    return next((each for each in usual if run_name(each) == name), None)


def _started_from(seed_run: SeedRun) -> int:
    """Return the seed of the pre-training that a seed started from, its own number where none was written down."""
    recorded = seed_run.environment().get(ENVIRONMENT_KEY)
    return int(recorded["seed"]) if isinstance(recorded, dict) else seed_run.seed


def _lost(reader: str, name: str) -> str:
    return (
        f"{reader} needs {name}, which its store no longer holds, so commands.sh cannot compute {reader} anew: bring "
        f"{name} back into that store, then make the bundle again."
    )
