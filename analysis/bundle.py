"""Reproduction bundles: figures, tables, their numbers, settings, environments and commands in one zip file.

`bundle_bytes` makes the zip; the same runs and choices give the same bytes from the app and from the command line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import pandas as pd

from analysis.budget import USUAL, budget_table, budget_words
from analysis.commands import Steps, annotate_command, compute_command, figure_command, steps_for, table_command
from analysis.drawing.files import FORMATS, csv_bytes, figure_bytes, json_bytes
from analysis.drawing.page import on_page, plan
from analysis.figures.base import FIGURES, FigureChoices
from analysis.latex import budget_latex, measurements_latex, paper_latex, tickets_latex
from analysis.measures.tables import measurement_table
from analysis.runs import printed_measurements, runs_with_rounds, training_part
from analysis.tables.curves import curve_table, paper_table
from analysis.tables.rounds import rounds_table
from analysis.tables.tickets import ticket_words, tickets_table
from glt import __version__
from glt.config import RunConfig, canonical_json
from glt.errors import ConfigError, StoreError, StudioError
from glt.results_version import version_note
from glt.store import Run
from glt.store.run import KIND
from glt.zip_files import zip_bytes

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
    for name, count in Counter(run.name for run in begun).items():
        if count > 1:
            both = " and ".join(run.reference for run in begun if run.name == name)
            raise ConfigError(f"A bundle needs runs with different settings, but {both} have the same: choose one.")
    choices = _with_place(begun, choices)
    rounds = rounds_table(begun)
    curve = curve_table(rounds, choices.score, "graph", choices.macs, choices.margin)
    parts, missing = _made(begun, rounds, curve, choices)
    files = _data("rounds", rounds) | _data("curve", curve)
    for part in parts:
        files |= part.files
    steps = steps_for(begun)
    for name, step in steps.by_name.items():
        folder = f"{STORE}-settings/{name}"
        kind = {} if isinstance(step.config, RunConfig) else {KIND: "pre-training"}
        document = {"schema": 1, **kind, "config": step.config.model_dump(mode="json")}
        files[f"{folder}/config.json"] = canonical_json(document).encode()
        if step.stored is not None:
            for seed in step.seeds:
                environment = json.dumps(step.stored.seed(seed).environment(), indent=2, sort_keys=True)
                files[f"{folder}/environment-seed-{seed}.json"] = f"{environment}\n".encode()
    files["commands.sh"] = _script(begun, steps, [command for part in parts for command in part.commands])
    files["README.md"] = _readme(begun, steps, parts, missing)
    return zip_bytes(dict(sorted(files.items())))


def _data(name: str, table: pd.DataFrame) -> dict[str, bytes]:
    return {f"data/{name}.csv": csv_bytes(table), f"data/{name}.json": json_bytes(table)}


def _with_place(runs: Sequence[Run], choices: FigureChoices) -> FigureChoices:
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
    makers["table budget"] = partial(_budget, runs, rounds, choices)
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
    names = [run.name for run in runs]
    commands = tuple(figure_command(name, names, choices, STORE, path) for path in files)
    caption = f"{drawing.caption} {FIGURES.get(name).missing(runs)}".strip()
    return Part(files | _data(f"figure-{name}", drawing.points), commands, caption)


def _table(
    name: str, runs: Sequence[Run], choices: FigureChoices, table: pd.DataFrame, latex: str, caption: str
) -> Part:
    command = table_command(name, [run.name for run in runs], choices, STORE, f"tables/{name}.tex")
    return Part({f"tables/{name}.tex": latex.encode()} | _data(name, table), (command,), caption)


def _tickets(runs: Sequence[Run], rounds: pd.DataFrame, choices: FigureChoices) -> Part:
    table = _with_rows("tickets", tickets_table(rounds, choices.score, choices.macs, choices.margin))
    latex = tickets_latex(table, choices.score, choices.macs, choices.margin)
    caption = f"{ticket_words(table)} A run without a ticket is shown by its round closest by validation score."
    return _table("tickets", runs, choices, table, latex, caption)


def _paper(runs: Sequence[Run], curve: pd.DataFrame, choices: FigureChoices) -> Part:
    table = _with_rows("paper", paper_table(curve))
    return _table("paper", runs, choices, table, paper_latex(table), "Our rounds beside the values the paper prints.")


def _budget(runs: Sequence[Run], rounds: pd.DataFrame, choices: FigureChoices) -> Part:
    table = budget_table(rounds, choices.budget or USUAL, choices.score, choices.macs)
    latex = budget_latex(table, choices.score, choices.macs)
    return _table("budget", runs, choices, table, latex, budget_words(table))


def _with_rows(name: str, table: pd.DataFrame) -> pd.DataFrame:
    if table.empty:
        raise StoreError(f"these runs have no rows for the table {name}.")
    return table


def _measurements(runs: Sequence[Run], choices: FigureChoices) -> Part:
    config = runs[0].config
    if len({(run.config.dataset, run.config.task) for run in runs}) > 1:
        raise StoreError("a table of measurements is about one data set and task.")
    number = choices.round or 0
    table = measurement_table(runs, number, published=printed_measurements(config))
    latex = measurements_latex(table, config.dataset, note=training_part(config))
    caption = f"Measurements of the original graph and after round {number}."
    return _table("measurements", runs, choices, table, latex, caption)


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
    sources = [
        f"- `{name}`, seeds {_seeds(step.seeds)}, for `{step.read_by}`" for name, step in steps.sources().items()
    ]
    lines = [
        "# Reproduction bundle",
        "",
        f"Made by GLT Studio {__version__} from these runs:",
        "",
        *(f"- `{run.reference}`, seeds {_seeds(run.seeds())}" for run in runs),
        "",
        # A bundle of another results version gives other rounds when it is computed again.
        *([note, ""] if (note := version_note(runs)) else []),
        *(["They start from these, which are computed first:", "", *sources, ""] if sources else []),
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


def _seeds(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
