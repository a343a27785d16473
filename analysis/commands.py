"""Commands that compute runs again, draw their figures and write their tables, and all that must be computed first.

`steps_for` lists the runs and pre-trainings that runs need, each after its sources.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from analysis.budget import USUAL
from analysis.drawing.files import DPI
from analysis.figures.base import FigureChoices
from glt.config import RunConfig, pretraining_of
from glt.errors import StoreError
from glt.lottery.initial_weights import ENVIRONMENT_KEY
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.config import PretrainConfig, first_layer_width, resolve_pretraining
from glt.store import KnownRun, Run, Store, run_name, sources_of

PRETRAIN_FLAGS = ("dataset", "augmentation", "task", "hidden")
SCORES = {"test": "best", "test_last": "last"}
BUDGET_FLAGS = ("--at", "--rounds", "--shares", "--within", "--reference")


def compute_command(config: RunConfig | PretrainConfig, seeds: Sequence[int], file: str, store: str) -> str:
    """Return the command that computes these seeds again; a run's settings come from its config.json in `file`.

    >>> compute_command(RunConfig(), [0, 2], "runs/a", "runs")
    'glt run --config runs/a --seeds 0,2 --store runs'
    """
    if isinstance(config, RunConfig):
        verb = ["run", "--config", file]
    else:
        # All settings, so that the command does not depend on later defaults.
        values = config.model_dump(exclude_none=True)
        named = [word for name in PRETRAIN_FLAGS for word in (f"--{name}", str(values.pop(name)))]
        verb = ["pretrain", *named, "--set", *(f"{name}={value}" for name, value in values.items())]
    return shlex.join(["glt", *verb, "--seeds", ",".join(map(str, seeds)), "--store", store])


def annotate_command(run: Run, store: str) -> str:
    """Return the command that restores a run's title and colour, "" where it has none."""
    options = {"--title": run.annotation.title, "--color": run.annotation.color}
    words = [word for flag, value in options.items() if value for word in (flag, value)]
    return shlex.join(["glt", "annotate", run.name, *words, "--store", store]) if words else ""


def figure_command(
    name: str, runs: Sequence[str], choices: FigureChoices, store: str, out: str, panels: str = "", dpi: int = DPI
) -> str:
    """Return the command that draws a figure of these runs into the file `out`.

    For several figures on one page, `name` lists them with commas and `panels` gives the grid ("2x2").

    >>> figure_command("accuracy", ["a"], FigureChoices(columns=2), "runs", "f.pdf")
    'glt figure accuracy a --store runs --columns 2 --out f.pdf'
    """
    page = [*(["--panels", panels] if panels else []), *(["--dpi", str(dpi)] if dpi != DPI else [])]
    return shlex.join(["glt", "figure", name, *runs, "--store", store, *_chosen(choices), *page, "--out", out])


def table_command(name: str, runs: Sequence[str], choices: FigureChoices, store: str, out: str) -> str:
    """Return the command that writes a LaTeX table of these runs to the file `out`."""
    at = ["--round", str(choices.round)] if name == "measurements" and choices.round is not None else []
    chosen = _chosen(choices, ("--macs", "--score", "--margin", *(BUDGET_FLAGS if name == "budget" else ())))
    return shlex.join(["glt", "table", name, *runs, "--store", store, *at, *chosen, "--out", out])


def _options(choices: FigureChoices) -> dict[str, Any]:
    """Return every option of `glt figure` as typed, a switch as True or False; None where there is no value."""
    sample, budget = choices.sample, choices.budget or USUAL
    return {
        "--x": choices.x,
        "--macs": choices.macs,
        "--score": SCORES[choices.score],
        "--margin": f"{100 * choices.margin:g}",
        "--paper": choices.paper,
        "--full": not choices.near,
        "--round": choices.round,
        "--seed": choices.seed,
        "--sample": sample.kind,
        "--size": sample.size,
        "--sample-seed": sample.seed,
        "--center": sample.center,
        "--class": sample.label,
        "--nodes": ",".join(map(str, sample.nodes)),
        "--fresh": choices.fresh,
        "--causes": choices.causes,
        "--measure": choices.measure,
        "--over": choices.over,
        "--no-null": not choices.null,
        "--chance": choices.chance,
        "--edge": ",".join(map(str, choices.edge or ())),
        "--at": budget.at,
        "--rounds": ",".join(map(str, budget.rounds)),
        "--shares": ",".join(f"{100 * share:g}" for share in budget.shares),
        "--within": f"{100 * budget.tolerance:g}",
        "--reference": budget.reference,
        "--venue": choices.venue,
        "--columns": choices.columns,
        "--font": choices.font,
        "--text": None if choices.text is None else f"{choices.text:g}",
        "--grey": choices.grey,
    }


def _chosen(choices: FigureChoices, flags: Sequence[str] = ()) -> list[str]:
    """Return the options (default: all `flags`) that differ from the standard ones, as arguments."""
    usual, words = _options(FigureChoices()), []
    for flag, value in _options(choices).items():
        if value != usual[flag] and (not flags or flag in flags):
            words += [flag] if value is True else [flag, str(value)]
    return words


# Runs and pre-trainings to compute, each after its sources


@dataclass
class Step:
    """One run or pre-training to compute: its settings, the stored run, the run that needs it, and seeds."""

    config: RunConfig | PretrainConfig
    stored: KnownRun | None
    read_by: str
    needed: set[int] = field(default_factory=set)

    @property
    def seeds(self) -> list[int]:
        """The seeds to compute, in ascending order."""
        return sorted(self.needed)


@dataclass
class Steps:
    """All steps by name, sources first; `lost` has a sentence for each missing source."""

    chosen: Mapping[str, Run]
    by_name: dict[str, Step] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def sources(self) -> dict[str, Step]:
        """Return the steps that are not runs of the bundle."""
        return {name: step for name, step in self.by_name.items() if name not in self.chosen}


def steps_for(runs: Sequence[Run]) -> Steps:
    """Return everything that must be computed for these runs, each once."""
    steps = Steps({run.name: run for run in runs})
    for run in runs:
        _add_run(steps, run, run.seeds(), "")
    return steps


def lost_sources(runs: Sequence[Run]) -> list[str]:
    """Return a sentence for every missing source of these runs, which cannot be computed again."""
    return steps_for(runs).lost


def _add_run(steps: Steps, run: Run, seeds: Sequence[int], read_by: str) -> None:
    for name in sources_of(run.config):
        _add_source(steps, run, name, seeds)
    steps.by_name.setdefault(run.name, Step(run.config, run, read_by)).needed.update(seeds)


def _add_source(steps: Steps, reader: Run, name: str, seeds: Sequence[int]) -> None:
    source: KnownRun | None = steps.chosen.get(name)
    if source is None:
        with suppress(StoreError):
            source = Store(reader.path.parent, writable=False).find_any(name)
    if isinstance(source, Run):
        _add_run(steps, source, seeds, reader.name)
        return
    config = _usual_config(reader.config, name) if source is None else source.config
    if config is None:
        lost = (
            f"{reader.name} needs {name}, which its store no longer holds, so commands.sh cannot compute {reader.name} "
            f"again: restore {name} in that store, then make the bundle again."
        )
        steps.lost += [] if lost in steps.lost else [lost]
        return
    step = steps.by_name.setdefault(name, Step(config, source, reader.name))
    for seed in map(reader.seed, seeds):
        # The seed of the pre-training that a seed started from is recorded; by default it is its own number.
        recorded = seed.environment().get(ENVIRONMENT_KEY)
        step.needed.add(int(recorded["seed"]) if isinstance(recorded, dict) else seed.seed)


def _usual_config(config: RunConfig, name: str) -> PretrainConfig | None:
    """Return the settings of a missing pre-training where its name, a hash, is that of default settings."""
    if pretraining_of(config) != name:
        return None
    like = {"dataset": config.dataset, "task": config.task, "hidden": first_layer_width(config)}
    usual = (resolve_pretraining({**like, "augmentation": kind}) for kind in AUGMENTATIONS.names())
    return next((settings for settings in usual if run_name(settings) == name), None)
