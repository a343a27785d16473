"""Reproduction bundles: figures, tables, their numbers, settings, environments and commands in one zip file.

`bundle_bytes` makes the zip; the same runs and choices give the same bytes from the app and from the command line.
Commands that reproduce a run, figure or table come first, then tables as CSV and JSON, the runs to compute, the zip.
"""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.drawing.files import DPI, FORMATS, figure_bytes
from analysis.drawing.page import on_page, plan
from analysis.figures.base import FIGURES, FigureChoices
from analysis.latex import measurements_latex, paper_latex, tickets_latex
from analysis.measures import At, measurement_table
from analysis.runs import printed_measurements, runs_with_rounds, training_part
from analysis.tables import curve_table, paper_table, rounds_table, ticket_words, tickets_table
from glt import __version__
from glt.config import RunConfig, canonical_json, pretraining_of
from glt.errors import ConfigError, StoreError, StudioError
from glt.lottery.initial_weights import ENVIRONMENT_KEY
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.config import PretrainConfig, first_layer_width, resolve_pretraining
from glt.results_version import version_note
from glt.store import KnownRun, Run, SeedRun, Store, run_name, sources_of
from glt.store.run import KIND
from glt.user_text import cell
from glt.zip_files import zip_bytes

STANDARD = FigureChoices()
PRETRAIN_FLAGS = ("dataset", "augmentation", "task", "hidden")
SCORES = {"test": "best", "test_last": "last"}

GLT = "glt"


def compute_command(config: RunConfig | PretrainConfig, seeds: Sequence[int], file: str, store: str) -> str:
    """Return the command that computes these seeds again; a run's settings come from its config.json in `file`.

    >>> compute_command(RunConfig(), [0, 2], "runs/a", "runs")
    'glt run --config runs/a --seeds 0,2 --store runs'
    """
    verb = ["run", "--config", file] if isinstance(config, RunConfig) else ["pretrain", *_settings(config)]
    return shlex.join([GLT, *verb, "--seeds", ",".join(map(str, seeds)), "--store", store])


def _settings(config: PretrainConfig) -> list[str]:
    """Return all settings of a pre-training as arguments, independent of later defaults."""
    values = config.model_dump(exclude_none=True)
    named = [word for name in PRETRAIN_FLAGS for word in (f"--{name}", str(values.pop(name)))]
    return [*named, "--set", *(f"{name}={value}" for name, value in values.items())]


def annotate_command(run: Run, store: str) -> str:
    """Return the command that restores a run's title and colour, "" where it has none."""
    options = {"--title": run.annotation.title, "--color": run.annotation.color}
    words = [word for flag, value in options.items() if value for word in (flag, value)]
    return shlex.join([GLT, "annotate", run.name, *words, "--store", store]) if words else ""


def figure_command(
    name: str, runs: Sequence[str], choices: FigureChoices, store: str, out: str, panels: str = "", dpi: int = DPI
) -> str:
    """Return the command that draws a figure of these runs into the file `out`.

    For several figures on one page, `name` lists them with commas and `panels` gives the grid ("2x2").

    >>> figure_command("accuracy", ["a"], FigureChoices(columns=2), "runs", "f.pdf")
    'glt figure accuracy a --store runs --columns 2 --out f.pdf'
    """
    options = (*_curve(choices), *_subgraph(choices), *_structure(choices), *_page(choices))
    chosen = [word for option in options for word in option]
    chosen += ["--panels", panels] if panels else []
    chosen += ["--dpi", str(dpi)] if dpi != DPI else []
    return shlex.join([GLT, "figure", name, *runs, "--store", store, *chosen, "--out", out])


def table_command(name: str, runs: Sequence[str], choices: FigureChoices, store: str, out: str) -> str:
    """Return the command that writes a LaTeX table of these runs to the file `out`."""
    at = [("--round", str(choices.round))] if name == "measurements" and choices.round is not None else []
    chosen = [word for option in (*at, *_counting(choices)) for word in option]
    return shlex.join([GLT, "table", name, *runs, "--store", store, *chosen, "--out", out])


def _curve(choices: FigureChoices) -> list[tuple[str, ...]]:
    switches = (("--paper", choices.paper), ("--full", not choices.near))
    axis = [("--x", choices.x)] if choices.x != STANDARD.x else []
    return [*axis, *_counting(choices), *((flag,) for flag, on in switches if on)]


def _counting(choices: FigureChoices) -> list[tuple[str, ...]]:
    given = {
        "--macs": choices.macs if choices.macs != STANDARD.macs else None,
        "--score": SCORES[choices.score] if choices.score != STANDARD.score else None,
        "--margin": f"{100 * choices.margin:g}" if choices.margin != STANDARD.margin else None,
    }
    return [(flag, value) for flag, value in given.items() if value is not None]


def _subgraph(choices: FigureChoices) -> list[tuple[str, ...]]:
    flags = {"kind": "--sample", "size": "--size", "seed": "--sample-seed", "center": "--center", "label": "--class"}
    sample = {flag: getattr(choices.sample, name) for name, flag in flags.items()}
    usual = {flag: getattr(STANDARD.sample, name) for name, flag in flags.items()}
    given = {"--round": choices.round, "--seed": choices.seed}
    given |= {flag: value for flag, value in sample.items() if value != usual[flag]}
    options: list[tuple[str, ...]] = [(flag, str(value)) for flag, value in given.items() if value is not None]
    options += [("--nodes", ",".join(map(str, choices.sample.nodes)))] if choices.sample.nodes else []
    return [*options, ("--fresh",)] if choices.fresh else options


def _structure(choices: FigureChoices) -> list[tuple[str, ...]]:
    options: list[tuple[str, ...]] = [
        (flag, value)
        for flag, value, usual in (
            ("--measure", choices.measure, STANDARD.measure),
            ("--over", choices.over, STANDARD.over),
        )
        if value != usual
    ]
    options += [] if choices.null else [("--no-null",)]
    return [*options, ("--edge", ",".join(map(str, choices.edge)))] if choices.edge else options


def _page(choices: FigureChoices) -> list[tuple[str, ...]]:
    given = {"--venue": choices.venue if choices.venue != STANDARD.venue else None}
    given["--columns"] = str(choices.columns) if choices.columns != STANDARD.columns else None
    given["--font"] = choices.font if choices.font != STANDARD.font else None
    given["--text"] = f"{choices.text:g}" if choices.text is not None else None
    grey: list[tuple[str, ...]] = [("--grey",)] if choices.grey else []
    return [*((flag, value) for flag, value in given.items() if value is not None), *grey]


# Tables as files


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as UTF-8 CSV: full precision, missing numbers empty, tuples with spaces between their numbers.

    Text that a spreadsheet would run as a formula is prefixed with '.
    """
    return str(table.map(_flat).rename(columns=cell).to_csv(index=False, lineterminator="\n")).encode()


def json_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as a JSON list of objects; missing numbers are null."""
    records = [{name: _plain(value) for name, value in row.items()} for row in table.to_dict("records")]
    return (json.dumps(records, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()


def _flat(value: Any) -> Any:
    return cell(" ".join(map(str, value)) if isinstance(value, tuple) else value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value


# Runs and pre-trainings to compute, each after its sources


@dataclass
class Step:
    """One run or pre-training to compute: its settings, the stored run, the run that needs it, and seeds."""

    config: RunConfig | PretrainConfig
    stored: KnownRun | None = None
    read_by: str = ""
    needed: set[int] = field(default_factory=set)

    @property
    def seeds(self) -> list[int]:
        """The seeds to compute, in ascending order."""
        return sorted(self.needed)

    def document(self) -> dict[str, Any]:
        """Return the content of config.json with these settings."""
        kind = {} if isinstance(self.config, RunConfig) else {KIND: "pre-training"}
        return {"schema": 1, **kind, "config": self.config.model_dump(mode="json")}


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
    _add(steps, run.name, Step(run.config, run, read_by), seeds)


def _add_source(steps: Steps, reader: Run, name: str, seeds: Sequence[int]) -> None:
    source = steps.chosen.get(name) or _in_store_of(reader, name)
    if isinstance(source, Run):
        _add_run(steps, source, seeds, reader.name)
        return
    config = _usual_config(reader.config, name) if source is None else source.config
    if config is not None:
        _add(steps, name, Step(config, source, reader.name), {_start_seed(reader.seed(seed)) for seed in seeds})
        return
    lost = (
        f"{reader.name} needs {name}, which its store no longer holds, so commands.sh cannot compute {reader.name} "
        f"again: restore {name} in that store, then make the bundle again."
    )
    steps.lost = list(dict.fromkeys([*steps.lost, lost]))


def _add(steps: Steps, name: str, step: Step, seeds: Iterable[int]) -> None:
    steps.by_name.setdefault(name, step).needed.update(seeds)


def _in_store_of(reader: Run, name: str) -> KnownRun | None:
    """Return a run's source from the run's own store; None where it cannot be opened."""
    try:
        return Store(reader.path.parent, writable=False).find_any(name)
    except StoreError:
        return None


def _usual_config(config: RunConfig, name: str) -> PretrainConfig | None:
    """Return the settings of a missing pre-training where its name, a hash, is that of default settings."""
    if pretraining_of(config) != name:
        return None
    like = {"dataset": config.dataset, "task": config.task, "hidden": first_layer_width(config)}
    usual = (resolve_pretraining({**like, "augmentation": kind}) for kind in AUGMENTATIONS.names())
    return next((settings for settings in usual if run_name(settings) == name), None)


def _start_seed(seed_run: SeedRun) -> int:
    """Return the recorded seed of the pre-training that a seed started from, by default its own number."""
    recorded = seed_run.environment().get(ENVIRONMENT_KEY)
    return int(recorded["seed"]) if isinstance(recorded, dict) else seed_run.seed


# The zip file

STORE = "runs"


class Part(NamedTuple):
    """A figure or table in the bundle: its files by path, the commands that make them, and its caption."""

    files: dict[str, bytes]
    commands: tuple[str, ...]
    caption: str


def bundle_bytes(runs: Sequence[Run], choices: FigureChoices) -> bytes:
    """Return the zip for these runs; raises StoreError when none of them has a finished round.

    The README lists the figures and tables that cannot be made of these runs, and why.
    """
    begun = runs_with_rounds(runs)
    _check_names(begun)
    choices = _settled(begun, choices)
    rounds = rounds_table(begun)
    curve = curve_table(rounds, choices.score, "graph", choices.macs, choices.margin)
    parts, missing = _made(begun, rounds, curve, choices)
    files = {path: content for part in parts for path, content in part.files.items()}
    files |= {f"data/{name}.csv": csv_bytes(table) for name, table in (("rounds", rounds), ("curve", curve))}
    files |= {f"data/{name}.json": json_bytes(table) for name, table in (("rounds", rounds), ("curve", curve))}
    steps = steps_for(begun)
    for name, step in steps.by_name.items():
        files |= _run_settings(name, step)
    files["commands.sh"] = _script(begun, steps, [command for part in parts for command in part.commands])
    files["README.md"] = _readme(begun, steps, parts, missing)
    return zip_bytes(dict(sorted(files.items())))


def _check_names(runs: Sequence[Run]) -> None:
    """Raise ConfigError where two runs have the same settings."""
    for name, count in Counter(run.name for run in runs).items():
        if count > 1:
            both = " and ".join(run.reference for run in runs if run.name == name)
            raise ConfigError(f"A bundle needs runs with different settings, but {both} have the same: choose one.")


def _settled(runs: Sequence[Run], choices: FigureChoices) -> FigureChoices:
    """Return the choices with a definite round and seed: by default the last and the first of these runs."""
    last = min(run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()) - 1
    shared = set.intersection(*(set(run.seeds()) for run in runs))
    number = last if choices.round is None else min(choices.round, last)
    return replace(choices, round=number, seed=min(shared, default=None) if choices.seed is None else choices.seed)


def _made(
    runs: Sequence[Run], rounds: pd.DataFrame, curve: pd.DataFrame, choices: FigureChoices
) -> tuple[list[Part], dict[str, str]]:
    """Return every figure and table that can be made, and the reasons why the others cannot."""
    makers: dict[str, Callable[[], Part]] = {
        f"figure {figure.name}": partial(_figure, figure.name, runs, choices) for figure in FIGURES
    }
    makers["table tickets"] = partial(_tickets, runs, rounds, choices)
    makers["table paper"] = partial(_paper, runs, curve, choices)
    makers["table measurements"] = partial(_measurements, runs, choices)
    parts, missing = [], {}
    for name, make in makers.items():
        try:
            parts.append(make())
        except StudioError as error:
            missing[name] = str(error)
        # One failure must not cost the other parts.
        except Exception as error:
            missing[name] = f"it could not be made ({type(error).__name__}: {' '.join(str(error).split())})."
    return parts, missing


def _figure(name: str, runs: Sequence[Run], choices: FigureChoices) -> Part:
    drawing = plan(name, runs, choices)
    drawn = on_page(drawing, choices)
    files = {f"figures/{name}.{kind}": figure_bytes(drawn, kind) for kind in FORMATS}
    files |= {
        f"data/figure-{name}.csv": csv_bytes(drawing.points),
        f"data/figure-{name}.json": json_bytes(drawing.points),
    }
    names = [run.name for run in runs]
    commands = (figure_command(name, names, choices, STORE, f"figures/{name}.{kind}") for kind in FORMATS)
    return Part(files, tuple(commands), f"{drawing.caption} {FIGURES.get(name).missing(runs)}".strip())


def _table(
    name: str, runs: Sequence[Run], choices: FigureChoices, table: pd.DataFrame, latex: str, caption: str
) -> Part:
    if table.empty:
        raise StoreError(f"these runs have no rows for the table {name}.")
    files = {f"tables/{name}.tex": latex.encode(), f"data/{name}.csv": csv_bytes(table)}
    files[f"data/{name}.json"] = json_bytes(table)
    command = table_command(name, [run.name for run in runs], choices, STORE, f"tables/{name}.tex")
    return Part(files, (command,), caption)


def _tickets(runs: Sequence[Run], rounds: pd.DataFrame, choices: FigureChoices) -> Part:
    table = tickets_table(rounds, choices.score, choices.macs, choices.margin)
    latex = "" if table.empty else tickets_latex(table, choices.score, choices.macs, choices.margin)
    closest = "A run without a ticket is shown by its round closest by validation score."
    return _table("tickets", runs, choices, table, latex, "" if table.empty else f"{ticket_words(table)} {closest}")


def _paper(runs: Sequence[Run], curve: pd.DataFrame, choices: FigureChoices) -> Part:
    table = paper_table(curve)
    latex = "" if table.empty else paper_latex(table)
    return _table("paper", runs, choices, table, latex, "Our rounds beside the values the paper prints.")


def _measurements(runs: Sequence[Run], choices: FigureChoices) -> Part:
    config = runs[0].config
    if len({(run.config.dataset, run.config.task) for run in runs}) > 1:
        raise StoreError("a table of measurements is about one data set and task.")
    at = At(round=choices.round)
    table = measurement_table(runs, at, published=printed_measurements(config))
    latex = measurements_latex(table, config.dataset, note=training_part(config))
    caption = f"Measurements of the original graph and after round {at.round}."
    return _table("measurements", runs, choices, table, latex, caption)


def _run_settings(name: str, step: Step) -> dict[str, bytes]:
    folder = f"{STORE}-settings/{name}"
    files = {f"{folder}/config.json": canonical_json(step.document()).encode()}
    if step.stored is not None:
        for seed in step.seeds:
            environment = json.dumps(step.stored.seed(seed).environment(), indent=2, sort_keys=True)
            files[f"{folder}/environment-seed-{seed}.json"] = f"{environment}\n".encode()
    return files


def _script(runs: Sequence[Run], steps: Steps, commands: Sequence[str]) -> bytes:
    lines = ["#!/bin/sh", "# Computes the runs again (hours), then makes their figures and tables."]
    lines += [*(f"# Missing: {sentence}" for sentence in steps.lost), "set -e"]
    lines += [
        compute_command(step.config, step.seeds, f"{STORE}-settings/{name}/config.json", STORE)
        for name, step in steps.by_name.items()
    ]
    lines += filter(None, (annotate_command(run, STORE) for run in runs))
    return "\n".join([*lines, *commands, ""]).encode()


def _readme(runs: Sequence[Run], steps: Steps, parts: Sequence[Part], missing: Mapping[str, str]) -> bytes:
    lines = [
        "# Reproduction bundle",
        "",
        f"Made by GLT Studio {__version__} from these runs:",
        "",
        *(f"- `{run.reference}`, seeds {_seeds(run.seeds())}" for run in runs),
        "",
        # A bundle of another results version gives other rounds when it is computed again.
        *([note, ""] if (note := version_note(runs)) else []),
        *_sources(steps),
        "`commands.sh`, run inside this folder where GLT Studio is installed, computes the runs again from",
        f"`{STORE}-settings/` and makes the figures and tables. `data/` holds their numbers:",
        "`rounds` has one line per run, seed and round, `curve` means, intervals and verdicts.",
        "",
        *(line for sentence in steps.lost for line in (f"Missing: {sentence}", "")),
    ]
    for part in parts:
        files = ", ".join(f"`{path}`" for path in part.files)
        lines += [f"## {files}", "", part.caption, "", *(f"    {command}" for command in part.commands), ""]
    if missing:
        lines += ["## Not in this bundle", "", *(f"- {name}: {reason}" for name, reason in missing.items()), ""]
    return "\n".join(lines).encode()


def _sources(steps: Steps) -> list[str]:
    """Return the README's list of sources that are computed before the runs."""
    lines = [f"- `{name}`, seeds {_seeds(step.seeds)}, for `{step.read_by}`" for name, step in steps.sources().items()]
    return ["They start from these, which are computed first:", "", *lines, ""] if lines else []


def _seeds(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
