"""A reproduction bundle: figures, tables, the numbers behind them, settings, environments and the commands, as a zip.

The same runs and choices give the same bytes, from the page and from the command line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import pandas as pd

from analysis.begun import with_rounds
from analysis.export.choices import FigureChoices
from analysis.export.commands import annotate_command, compute_command, figure_command, table_command
from analysis.export.data import csv_bytes, json_bytes
from analysis.export.figures import FIGURES
from analysis.export.latex import measurements_latex, paper_latex, tickets_latex
from analysis.export.page import on_page, plan
from analysis.export.rendering import FORMATS, figure_bytes
from analysis.export.sources import Step, Steps, steps_for
from analysis.measures import At, measurement_table
from analysis.shared_graph import printed_measurements, training_part
from analysis.tables import curve_table, paper_table, rounds_table, ticket_words, tickets_table
from glt import __version__
from glt.config import canonical_json
from glt.errors import ConfigError, StoreError, StudioError
from glt.results_version import version_note
from glt.store import Run
from glt.zips import zip_bytes

STORE = "runs"


class Part(NamedTuple):
    """What a figure or a table adds: its files by path, the commands that make them, and what it shows."""

    files: dict[str, bytes]
    commands: tuple[str, ...]
    caption: str


def bundle_bytes(runs: Sequence[Run], choices: FigureChoices) -> bytes:
    """Return the zip for these runs; raises StoreError when none of them has a finished round.

    What cannot be made of these runs (a figure of sweeps, say) is left out, and the README in it says why.
    """
    begun = with_rounds(runs)
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
        files |= _settings(name, step)
    files["commands.sh"] = _script(begun, steps, [command for part in parts for command in part.commands])
    files["README.md"] = _readme(begun, steps, parts, missing)
    return zip_bytes(dict(sorted(files.items())))


def _check_names(runs: Sequence[Run]) -> None:
    """Raise ConfigError where two runs have the same settings: what computes the one anew computes the other."""
    for name, count in Counter(run.name for run in runs).items():
        if count > 1:
            both = " and ".join(run.reference for run in runs if run.name == name)
            raise ConfigError(f"A bundle computes its runs anew from their settings, which {both} share: choose one.")


def _settled(runs: Sequence[Run], choices: FigureChoices) -> FigureChoices:
    """Return the choices with the round and seed that stand for "the last" and "the first" of these runs."""
    last = min(run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()) - 1
    shared = set.intersection(*(set(run.seeds()) for run in runs))
    number = last if choices.round is None else min(choices.round, last)
    return replace(choices, round=number, seed=min(shared, default=None) if choices.seed is None else choices.seed)


def _made(
    runs: Sequence[Run], rounds: pd.DataFrame, curve: pd.DataFrame, choices: FigureChoices
) -> tuple[list[Part], dict[str, str]]:
    """Make every figure and table there is, and say of the others why they cannot be."""
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
        # One that fails by itself must not cost the rest.
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


def _table(name: str, runs: Sequence[Run], choices: FigureChoices, table: pd.DataFrame, latex: str, told: str) -> Part:
    if table.empty:
        raise StoreError(f"these runs have nothing for the table {name}.")
    files = {f"tables/{name}.tex": latex.encode(), f"data/{name}.csv": csv_bytes(table)}
    files[f"data/{name}.json"] = json_bytes(table)
    command = table_command(name, [run.name for run in runs], choices, STORE, f"tables/{name}.tex")
    return Part(files, (command,), told)


def _tickets(runs: Sequence[Run], rounds: pd.DataFrame, choices: FigureChoices) -> Part:
    table = tickets_table(rounds, choices.score, choices.macs, choices.margin)
    latex = "" if table.empty else tickets_latex(table, choices.score, choices.macs, choices.margin)
    told = "" if table.empty else f"{ticket_words(table)} A run without one has the round closest by validation score."
    return _table("tickets", runs, choices, table, latex, told)


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
    told = f"Measurements of the graph and of what round {at.round} leaves of it."
    return _table("measurements", runs, choices, table, latex, told)


def _settings(name: str, step: Step) -> dict[str, bytes]:
    folder = f"{STORE}-settings/{name}"
    files = {f"{folder}/config.json": canonical_json(step.document()).encode()}
    if step.found is None:
        return files
    for seed in step.seeds:
        known = json.dumps(step.found.seed(seed).environment(), indent=2, sort_keys=True)
        files[f"{folder}/environment-seed-{seed}.json"] = f"{known}\n".encode()
    return files


def _script(runs: Sequence[Run], steps: Steps, commands: Sequence[str]) -> bytes:
    lines = ["#!/bin/sh", "# Computes the runs anew (hours), then makes the figures and tables from them."]
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
        *_version(runs),
        *_sources(steps),
        "`commands.sh`, run inside this folder where GLT Studio is installed, computes the runs anew from",
        f"`{STORE}-settings/` and makes the figures and tables again. `data/` holds the numbers behind them:",
        "`rounds` a line a run, seed and round, `curve` their means, intervals and verdicts.",
        "",
        *(line for sentence in steps.lost for line in (f"Missing: {sentence}", "")),
    ]
    for part in parts:
        files = ", ".join(f"`{path}`" for path in part.files)
        lines += [f"## {files}", "", part.caption, "", *(f"    {command}" for command in part.commands), ""]
    if missing:
        lines += ["## Not in this bundle", "", *(f"- {name}: {reason}" for name, reason in missing.items()), ""]
    return "\n".join(lines).encode()


def _version(runs: Sequence[Run]) -> list[str]:
    """Say that computing the runs anew gives other rounds, nothing where this version computed them."""
    note = version_note(runs)
    return [note, ""] if note else []


def _sources(steps: Steps) -> list[str]:
    """Say what is computed for the runs before them, nothing where they need nothing."""
    told = [f"- `{name}`, seeds {_seeds(step.seeds)}, for `{step.read_by}`" for name, step in steps.sources().items()]
    return ["They need these, which are computed first:", "", *told, ""] if told else []


def _seeds(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
