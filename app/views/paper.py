"""Paper: every figure and table on small graphs, each beside our runs and judged by what these show."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.reproduction import EXHIBITS
from app.widgets import controls, exhibiting, frame
from app.widgets.judging import Judged, judged
from app.widgets.opened import Opened, opened
from glt.data import DATASETS
from glt.errors import ConfigError
from glt.models import MODELS
from glt.reproduction import Experiment, Setting, in_order
from glt.seeds import read_seeds
from glt.training.tasks import TASKS

FIRST = "node-classification"
DEFAULT_SEEDS = "0-2"
MEASURED = "paper: measured"


def page() -> None:
    """Show the page."""
    with frame.page("Paper", "Every figure and table on small graphs, beside our runs."):
        dataset, model, seeds = _controls()
        found = opened()
        contents, section = st.columns([1, 3.1], gap="large")
        with contents:
            experiment = _contents(found, dataset, model, seeds)
        with section:
            setting = experiment.nearest(dataset, model, _task(experiment))
            _section(found, experiment, setting, (dataset, model), seeds)


def _controls() -> tuple[str, str, tuple[int, ...]]:
    settings = [setting for experiment in in_order() for setting in experiment.settings]
    datasets = {name: DATASETS.get(name).label for name in dict.fromkeys(setting.dataset for setting in settings)}
    models = {name: MODELS.get(name).label for name in dict.fromkeys(setting.model for setting in settings)}
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        dataset = controls.segments("dataset", "Data set", datasets, "cora")
        model = controls.segments("model", "Network", models, "gcn")
        told = "What should be there; a mean is over all seeds that are."
        written = controls.text("seeds", "Seeds needed", DEFAULT_SEEDS, width=130, help=told) or DEFAULT_SEEDS
    return dataset, model, _seeds(written)


def _seeds(written: str) -> tuple[int, ...]:
    """Read the seeds; where they are none, say so and go on with the usual ones."""
    try:
        return read_seeds(written)
    except ConfigError as error:
        frame.failure(f"{error} Shown are seeds {DEFAULT_SEEDS}.")
        return read_seeds(DEFAULT_SEEDS)


def _contents(found: Opened, dataset: str, model: str, seeds: Sequence[int]) -> Experiment:
    experiments = {experiment.name: experiment for experiment in in_order()}
    labels = {name: f"{each.place} · {each.label}" for name, each in experiments.items()}
    task = st.session_state.get("task")
    captions = {
        name: _badge(found, each, each.nearest(dataset, model, task), seeds) for name, each in experiments.items()
    }
    return experiments[controls.contents("experiment", "Contents", labels, FIRST, captions)]


def _badge(found: Opened, experiment: Experiment, setting: Setting, seeds: Sequence[int]) -> str:
    seen = _judged(found, experiment, setting, seeds)
    return exhibiting.badge(seen.verdict, bool(seen.runs) and _is_unmeasured(experiment, setting))


def _task(experiment: Experiment) -> str:
    tasks = list(dict.fromkeys(setting.task for setting in experiment.settings))
    if len(tasks) == 1:
        return tasks[0]
    labels = {name: TASKS.get(name).label for name in tasks}
    return controls.segments("task", "Task", labels, label_visibility="collapsed")


def _judged(found: Opened, experiment: Experiment, setting: Setting, seeds: Sequence[int]) -> Judged:
    """Judge an experiment; its measurements count from when its section was first opened."""
    return judged(found, experiment, setting, seeds, (experiment.name, setting) in _measured())


def _measured() -> set[tuple[str, Setting]]:
    known: set[tuple[str, Setting]] = st.session_state.setdefault(MEASURED, set())
    return known


def _is_unmeasured(experiment: Experiment, setting: Setting) -> bool:
    return EXHIBITS.get(experiment.name).measures and (experiment.name, setting) not in _measured()


def _section(
    found: Opened, experiment: Experiment, setting: Setting, asked: tuple[str, str], seeds: Sequence[int]
) -> None:
    if asked != (setting.dataset, setting.model):
        shown = f"{DATASETS.get(setting.dataset).label} with {MODELS.get(setting.model).label}"
        st.caption(f":material/info: The paper has no such panel; shown is {shown}.")
    if _is_unmeasured(experiment, setting):
        _measured().add((experiment.name, setting))
        judged(found, experiment, setting, seeds, measure=True)
        # The contents were written before the measurements were known.
        st.rerun()
    exhibiting.section(found, _judged(found, experiment, setting, seeds))
