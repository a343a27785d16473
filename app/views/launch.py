"""Launch: choose what to run, see what it will cost, start it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from analysis.style import palette
from app.components import controls, frame, url_state
from app.data import cache
from app.data.runs import Opened, opened
from app.views import launch_fields, run_actions
from glt import formats
from glt.config import RunConfig
from glt.datasets import DATASETS, DatasetSpec
from glt.datasets.cache import free_bytes
from glt.errors import ConfigError, Faults, StudioError
from glt.jobs import memory
from glt.jobs.dependencies import awaited, check_needs
from glt.jobs.estimate import Forecast, weight_count
from glt.jobs.sweep import Point, grid_points, read_grid, start_all
from glt.lottery.initial_weights import check_start, start_words
from glt.methods import METHODS
from glt.models import MODELS, TensorSpec
from glt.presets import PRESETS, resolve
from glt.pretraining.config import pretraining_of
from glt.seeds import read_seeds
from glt.store import run_name
from glt.training.problem import network_shape, tensor_specs
from glt.training.tasks import TASKS

COMPLETE = "complete"
MOST_LISTED = 6
DEFAULT_SEEDS = "0, 1, 2, 3, 4"
SHARED_SEEDS = "Each method is a run of its own. Runs share their seeds, so every comparison is between equal starts."


def page() -> None:
    """Show the page."""
    with frame.page("Launch", "Choose what to prune and how; see what it costs before it starts."):
        form, cost = st.columns([1.8, 1], gap="medium")
        with form:
            found = opened()
            draft = _form(found)
        with cost, st.container(border=True, key="cost"):
            _cost(found, draft)


def _form(found: Opened) -> Draft:
    setting = _setting()
    labels = {name: METHODS.get(name).label for name in sorted(METHODS.names(), key=palette.rank)}
    methods = controls.several_pills("methods", "Methods", labels, ["ugs", "random"])
    st.caption(
        "  \n".join(f"**{METHODS.get(m).label}**: {METHODS.get(m).description}" for m in methods) or SHARED_SEEDS
    )
    preset = controls.segments("preset", "Preset", {p.name: p.label for p in PRESETS.values()}, "official")
    st.caption(PRESETS[preset].description)
    resolved = _resolved(setting, methods, preset)
    seeds_column, length = st.columns([1, 3], gap="small")
    with seeds_column:
        seeds = controls.text("seeds", "Seeds", DEFAULT_SEEDS, help=SHARED_SEEDS)
    with length:
        filled = launch_fields.fields(RunConfig, launch_fields.GROUPS["Length"], resolved, across=3)
    filled |= launch_fields.pick_source(found, setting, methods)
    with st.expander("All settings", icon=":material/tune:", key="all-settings"):
        st.caption("An empty field takes the preset's value, which it shows in grey.")
        filled |= _all_settings(setting, methods, resolved)
    filled |= launch_fields.pick_start(
        found, setting, seeds, filled.get("hidden", launch_fields.setting_text(resolved.get("hidden")))
    )
    grid = launch_fields.pick_grid(setting, methods, resolved)
    return Draft(setting, methods, seeds, preset, filled, grid)


def _setting() -> dict[str, str]:
    data, task, model = st.columns([1, 1.3, 1], gap="small")
    with data:
        dataset = controls.select("dataset", "Data set", {d.name: d.label for d in DATASETS}, "cora")
    spec = DATASETS.get(dataset)
    with task:
        tasks = {t.name: t.label for t in TASKS if t.name in spec.tasks}
        chosen_task = controls.select("task", "Task", tasks, "node")
    with model:
        models = {m.name: m.label for m in MODELS if chosen_task in m.tasks}
        chosen_model = controls.select("model", "Network", models, "gcn")
    st.caption(_about(spec))
    return {"dataset": dataset, "task": chosen_task, "model": chosen_model}


def _about(spec: DatasetSpec) -> str:
    """Say what a data set holds, or the part of it that is here, and where it comes from."""
    sizes = spec.sizes
    parts = [
        f"{formats.count(sizes.nodes)} nodes",
        f"{formats.count(sizes.edges)} edges",
        f"{formats.count(sizes.features)} features",
    ]
    if spec.binary_tasks:
        parts.append(f"{spec.binary_tasks} binary tasks")
    elif spec.classes:
        parts.append(f"{spec.classes} classes")
    source = "bundled" if spec.bundled else "read from GLT_DATA or downloaded once"
    part = "" if sizes.nodes == spec.nodes else f", a part of the published {formats.count(spec.nodes)} nodes"
    return f"{spec.label}: {', '.join(parts)}{part}; {source}."


def _all_settings(setting: Mapping[str, str], methods: Sequence[str], resolved: Mapping[str, Any]) -> dict[str, str]:
    filled: dict[str, str] = {}
    for title, names in launch_fields.groups().items():
        if title != "Length":
            st.markdown(f"**{title}**")
            filled |= launch_fields.fields(RunConfig, names, resolved)
    model, task = MODELS.get(setting["model"]), TASKS.get(setting["task"])
    owners = [(model.label, model.Options), (task.label, task.Options)]
    owners += [(method.label, method.Options) for method in map(METHODS.get, methods)]
    for label, options in owners:
        names = [name for name in options.model_fields if name != launch_fields.MASKS_OF]
        if options.model_fields:
            st.markdown(f"**{label}**")
            filled |= launch_fields.fields(options, names, resolved)
    return filled


def _resolved(setting: Mapping[str, str], methods: Sequence[str], preset: str) -> dict[str, Any]:
    """Return every setting's value when nothing is filled in, options of all chosen methods included."""
    configs = [resolve({**setting, "method": name}, preset) for name in methods or ["ugs"]]
    flat = {name: value for config in configs for name, value in config.options.items()}
    return {**configs[0].model_dump(exclude={"options"}), **flat}


def _cost(found: Opened, draft: Draft) -> None:
    st.subheader("Before it starts", anchor=False)
    try:
        wanted = plan(draft)
        starts = _starts(found, wanted)
    except StudioError as error:
        frame.failures(error.faults if isinstance(error, ConfigError) else [str(error)])
        st.button("Start", key="start", type="primary", disabled=True, width="stretch")
        return
    cost = cache.forecast_of(found, wanted.configs, wanted.seeds)
    _numbers(cost)
    _runs(found, wanted)
    prunable_tensors(wanted.configs[0])
    if starts:
        st.caption(frame.plain(starts))
    _room(found.store.root, cost)
    words = f"Start {formats.number_of(len(wanted.configs), 'run')}"
    if st.button(
        words, key="start", type="primary", icon=":material/play_arrow:", disabled=not cost.epochs, width="stretch"
    ):
        _start(found, wanted)


def _starts(found: Opened, wanted: Plan) -> str:
    """Say which pre-training the runs start from; raises StudioError for missing seeds."""
    words = ""
    for config in wanted.configs:
        check_needs(found.store, config, wanted.seeds)
        sources = {source for seed in wanted.seeds if (source := awaited(found.store, config, seed)) is not None}
        name = pretraining_of(config)
        if sources:
            words = f"Waits for {' and '.join(sorted(sources))}, which is at work, and begins by itself after it."
        elif name is not None:
            words = start_words(name, check_start(found.store, config, wanted.seeds))
    return words


def _numbers(cost: Forecast) -> None:
    time = formats.duration(cost.seconds) if cost.seconds is not None else "not known yet"
    numbers = {
        "Time, about": time,
        "Disk, about": formats.file_size(cost.size_bytes),
        "Memory, about": formats.file_size(cost.memory_bytes),
        "Epochs": formats.count(cost.epochs),
        "Workers": f"{cost.workers} on {cost.cores} {'core' if cost.cores == 1 else 'cores'}",
    }
    with st.container(horizontal=True, gap="small"):
        for label, value in numbers.items():
            st.metric(label, value, width=170)
    st.caption(f"Time: {cost.basis}.")


def _runs(found: Opened, wanted: Plan) -> None:
    known, examples = {run.name: run for run in found.own}, {run.name for run in found.examples}
    for point in wanted.points[:MOST_LISTED]:
        name = run_name(point.config)
        fresh = "an example, computed again" if name in examples else "new"
        done = [known[name].seed(seed).whole_rounds() for seed in wanted.seeds] if name in known else []
        state = _state(done, point.config.rounds) if any(done) else fresh
        with st.container(gap=None):
            with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
                st.markdown(", ".join(filter(None, (palette.label(point.config.method), point.words))), width="content")
                st.badge(state, color="green" if state == COMPLETE else "gray")
            st.caption(name)
    if len(wanted.points) > MOST_LISTED:
        st.caption(f"and {len(wanted.points) - MOST_LISTED} more")


def _state(done: Sequence[int], rounds: int) -> str:
    """Say how far a run is whose seeds have so many finished rounds (with round 0).

    >>> _state([21], 20), _state([3, 5], 20), _state([21, 5, 0], 20), _state([5, 0], 20)
    ('complete', 'goes on after round 2', '1 of 3 seeds complete', '1 of 2 seeds begun')
    """
    complete = sum(count > rounds for count in done)
    if complete == len(done):
        return COMPLETE
    if complete:
        return f"{complete} of {len(done)} seeds complete"
    return f"goes on after round {min(done) - 1}" if all(done) else f"{sum(map(bool, done))} of {len(done)} seeds begun"


def _room(root: Path, cost: Forecast) -> None:
    free = free_bytes(root)
    if cost.size_bytes > free:
        st.warning(
            f"The disk of {root} has {formats.file_size(free)} free, less than this will add: empty the trash, "
            "choose fewer seeds or another store.",
            icon=":material/warning:",
        )
    available = memory.available_bytes()
    if cost.memory_bytes > available:
        st.warning(
            f"{formats.file_size(available)} of memory are available, less than workers side by side will need: choose "
            "fewer hidden units, layers or seeds.",
            icon=":material/warning:",
        )


def _start(found: Opened, wanted: Plan) -> None:
    started = start_all(found.store, wanted.configs, wanted.seeds)
    run_actions.say_not_started(started)
    url_state.go("runs", run=started[0].run.name)


@dataclass(frozen=True)
class Draft:
    """The form as text; `plan` turns it into configurations or lists all errors."""

    setting: Mapping[str, str]
    methods: Sequence[str]
    seeds: str
    preset: str
    filled: Mapping[str, str]
    grid: Mapping[str, str]


@dataclass(frozen=True)
class Plan:
    """One run a method, or one for each of a sweep's points, and the seeds they share."""

    points: tuple[Point, ...]
    seeds: tuple[int, ...]

    @property
    def configs(self) -> tuple[RunConfig, ...]:
        """The configuration of every run."""
        return tuple(point.config for point in self.points)


def plan(draft: Draft) -> Plan:
    """Return the runs of a draft; raises a ConfigError that lists all errors."""
    faults, points = Faults(), list[Point]()
    seeds: tuple[int, ...] = ()
    if not draft.methods:
        faults.add("No method is chosen: choose at least one.")
    with faults.noted():
        seeds = read_seeds(draft.seeds)
    for method in draft.methods:
        with faults.noted():
            points += _points(draft, method)
    faults.raise_any()
    return Plan(tuple(points), seeds)


def _points(draft: Draft, method: str) -> Sequence[Point]:
    values = _of_method(draft, method)
    if not draft.grid:
        return [Point({}, resolve(values, draft.preset))]
    return grid_points(values, read_grid(draft.grid.items()), draft.preset)


def _of_method(draft: Draft, method: str) -> dict[str, str]:
    """Return the settings of one method's run, without options of the other methods."""
    of_others = {
        name for other in draft.methods if other != method for name in METHODS.get(other).Options.model_fields
    } - set(METHODS.get(method).Options.model_fields)
    own = {name: value for name, value in draft.filled.items() if name not in of_others}
    return {**draft.setting, "method": method, **own}


def prunable_tensors(config: RunConfig) -> None:
    """Show it folded, with the number of prunable weights outside."""
    spec = DATASETS.get(config.dataset)
    tensors = tensor_specs(config, network_shape(config, spec.sizes))
    title = f"Masks cover {formats.count(weight_count(config))} weights"
    with st.expander(title, icon=":material/grid_on:", key="prunable"):
        st.table(_tensor_rows(tensors), border="horizontal")
        st.caption("and every edge of the graph that carries messages; a node's own message always stays.")


def _tensor_rows(tensors: Sequence[TensorSpec]) -> list[dict[str, str]]:
    return [
        {
            "Tensor": tensor.name,
            "Shape": " by ".join(formats.count(size) for size in tensor.shape),
            "Pruned": "yes" if tensor.prunable else "no",
        }
        for tensor in tensors
    ]
