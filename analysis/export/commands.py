"""The commands that make a run or a figure again, as they are typed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from analysis.export.choices import FigureChoices
from analysis.export.rendering import DPI
from glt.config import RunConfig
from glt.pretraining.config import PretrainConfig
from glt.store import Run

STANDARD = FigureChoices()
PRETRAIN_FLAGS = ("dataset", "augmentation", "task", "hidden")
SCORES = {"test": "best", "test_last": "last"}


def compute_command(config: RunConfig | PretrainConfig, seeds: Sequence[int], file: str, store: str) -> str:
    """Return the command that computes these seeds anew: of a run from a copy of its config.json, in `file`.

    >>> compute_command(RunConfig(), [0, 2], "runs/a", "runs")
    'python -m glt run --config runs/a --seeds 0,2 --store runs'
    """
    made = ["run", "--config", file] if isinstance(config, RunConfig) else ["pretrain", *_settings(config)]
    where = ["--seeds", ",".join(map(str, seeds)), "--store", store]
    return shlex.join(["python", "-m", "glt", *made, *where])


def _settings(config: PretrainConfig) -> list[str]:
    """Return all settings of a pre-training as arguments, so that later defaults do not change them."""
    values = config.model_dump(exclude_none=True)
    named = [word for name in PRETRAIN_FLAGS for word in (f"--{name}", str(values.pop(name)))]
    return [*named, "--set", *(f"{name}={value}" for name, value in values.items())]


def annotate_command(run: Run, store: str) -> str:
    """Return the command that gives a run its title and colour again, "" where it has none."""
    said = {"--title": run.annotation.title, "--color": run.annotation.color}
    given = [word for flag, value in said.items() if value for word in (flag, value)]
    return shlex.join(["python", "-m", "glt", "annotate", run.name, *given, "--store", store]) if given else ""


def figure_command(
    name: str, runs: Sequence[str], choices: FigureChoices, store: str, out: str, panels: str = "", dpi: int = DPI
) -> str:
    """Return the command that draws a figure of these runs with these choices into the file `out`.

    Several figures on one page are their names with commas between them, and `panels` how they stand ("2x2").

    >>> figure_command("accuracy", ["a"], FigureChoices(columns=2), "runs", "f.pdf")
    'python -m analysis figure accuracy a --store runs --columns 2 --out f.pdf'
    """
    options = (*_curve(choices), *_subgraph(choices), *_structure(choices), *_page(choices))
    chosen = [word for option in options for word in option]
    chosen += ["--panels", panels] if panels else []
    chosen += ["--dpi", str(dpi)] if dpi != DPI else []
    return shlex.join(["python", "-m", "analysis", "figure", name, *runs, "--store", store, *chosen, "--out", out])


def table_command(name: str, runs: Sequence[str], choices: FigureChoices, store: str, out: str) -> str:
    """Return the command that writes a LaTeX table of these runs into the file `out`."""
    at = [("--round", str(choices.round))] if name == "measurements" and choices.round is not None else []
    chosen = [word for option in (*at, *_counting(choices)) for word in option]
    return shlex.join(["python", "-m", "analysis", "table", name, *runs, "--store", store, *chosen, "--out", out])


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
