"""Pickers of runs, seeds and rounds; the choice is in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from analysis import palette
from app.widgets import controls
from app.widgets.opened import setting
from glt.store import Run


def run_words(runs: Sequence[Run]) -> dict[str, str]:
    """Return what to call each run where it is chosen: method, data set, network, and "example" for bundled ones."""
    words = {run.name: run_title(run) for run in runs}
    taken = list(words.values())
    return {
        run.name: words[run.name]
        + (f" · {run.name.rsplit('-', 1)[-1]}" if taken.count(words[run.name]) > 1 else "")
        + (" · example" if run.is_example else "")
        for run in runs
    }


def run_title(run: Run) -> str:
    """Return what a run is about in three words: method, data set and network."""
    config = run.config
    return f"{palette.label(config.method)} · {config.dataset.capitalize()} {config.model.upper()}"


def with_rounds(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have finished at least one round."""
    return [run for run in runs if any(run.seed(seed).whole_rounds() for seed in run.seeds())]


def same_setting(runs: Sequence[Run]) -> list[Run]:
    """Return the runs on the data set, task and network of the first one: what belongs into one picture."""
    return [run for run in runs if setting(run) == setting(runs[0])]


def pick_runs(runs: Sequence[Run], default: Sequence[Run]) -> list[Run]:
    """Choose the runs of a picture in a pop-over that says how many are chosen."""
    words = run_words(runs)
    chosen = [run.name for run in default]
    count = controls.settle_several("runs", words, chosen)
    with st.popover(f"Runs · {count} of {len(runs)}", icon=":material/stacked_line_chart:", key="pick-runs"):
        names = controls.several("runs", "Runs in the picture", words, chosen, width=420)
    return [run for run in runs if run.name in names]


def pick_run(runs: Sequence[Run], default: Run | None = None) -> Run:
    """Choose one run."""
    words = run_words(runs)
    name = controls.select("run", "Run", words, default.name if default else None, width=300)
    return next(run for run in runs if run.name == name)


def pick_seed(run: Run) -> int:
    """Choose one seed of a run that has finished rounds."""
    seeds = [seed for seed in run.seeds() if run.seed(seed).whole_rounds()]
    return int(controls.select("seed", "Seed", {str(seed): str(seed) for seed in seeds}, width=90))


def by_method(runs: Sequence[Run]) -> Mapping[str, Run]:
    """Return the first run of each method, in the order of `runs`."""
    found: dict[str, Run] = {}
    for run in runs:
        found.setdefault(run.config.method, run)
    return found
