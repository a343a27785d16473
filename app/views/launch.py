"""Launch: choose settings, see the cost, start runs. Begin at `page`."""

from __future__ import annotations

import math
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

import streamlit as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from analysis import palette
from analysis.labels import SHARES
from app.components import controls, frame, run_select, url_state
from app.data import cache
from app.data.runs import Catalog, any_active, open_catalog
from app.data.runs import setting as setting_of
from app.views.run_detail import say_not_started
from glt import formats
from glt.config import RunConfig
from glt.datasets import DATASETS, DatasetSpec
from glt.errors import ConfigError, Faults, StudioError, brief
from glt.jobs.estimate import Forecast, shortages, weight_count
from glt.jobs.launcher import start_pretraining
from glt.jobs.queue import check_needs
from glt.jobs.sweep import Point, grid_points, read_grid, start_all, value_words
from glt.methods import METHODS
from glt.models import MODELS
from glt.presets import PRESETS, all_options, resolve
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.config import PRETRAINING, resolve_pretraining, takes_first_layer
from glt.registry import OneOf
from glt.seeds import read_seeds
from glt.store import Pretraining, run_name
from glt.training.problem import network_shape, tensor_specs
from glt.training.tasks import TASKS

COMPLETE = "complete"
MOST_LISTED = 6
DEFAULT_SEEDS = "0, 1, 2, 3, 4"
SHARED_SEEDS = "One run per method. Runs share their seeds, so comparisons are between equal starts."
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Length": ("rounds", "epochs", "retrain_epochs"),
    "Network": ("hidden", "layers", "dropout"),
    "Masks": ("edge_mask", "degree", "p_graph", "p_weight"),
    "Training": ("learning_rate", "weight_decay", "gamma_graph", "gamma_weight"),
}
MASKS_OF = "masks_of"
VARIED = "vary"
ABOUT_SWEEP = "One run per method and combination of values. The paper's ablation varies p_graph and p_weight."


@dataclass(frozen=True)
class Draft:
    """The form as text; `plan` turns it into configurations."""

    setting: Mapping[str, str]
    methods: Sequence[str]
    seeds: str
    preset: str
    filled: Mapping[str, str]
    grid: Mapping[str, str]


@dataclass(frozen=True)
class LaunchPlan:
    """One run per method and point of a sweep, and their shared seeds."""

    points: tuple[Point, ...]
    seeds: tuple[int, ...]

    @property
    def configs(self) -> tuple[RunConfig, ...]:
        """The configuration of every run."""
        return tuple(point.config for point in self.points)


def page() -> None:
    """Show the page."""
    with frame.page("Launch", "Choose what to prune and how, and see the cost before you start."):
        form, cost = st.columns([1.8, 1], gap="medium")
        with form:
            catalog = open_catalog()
            draft = _form(catalog)
        with cost, st.container(border=True, key="cost"):
            _cost(catalog, draft)


def _form(catalog: Catalog) -> Draft:
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
    setting = {"dataset": dataset, "task": chosen_task, "model": chosen_model}
    labels = {name: METHODS.get(name).label for name in sorted(METHODS.names(), key=palette.rank)}
    methods = controls.several("methods", "Methods", labels, ["ugs", "random"], pills=True)
    st.caption(
        "  \n".join(f"**{METHODS.get(m).label}**: {METHODS.get(m).description}" for m in methods) or SHARED_SEEDS
    )
    preset = controls.segments("preset", "Preset", {p.name: p.label for p in PRESETS.values()}, "official")
    st.caption(PRESETS[preset].description)
    configs = [resolve({**setting, "method": name}, preset) for name in methods or ["ugs"]]
    resolved = preset_values(configs)
    seeds_column, length = st.columns([1, 3], gap="small")
    with seeds_column:
        seeds = controls.text("seeds", "Seeds", DEFAULT_SEEDS, help=SHARED_SEEDS)
    with length:
        filled = fields(RunConfig, GROUPS["Length"], resolved, across=3)
    filled |= pick_source(catalog, setting, methods)
    with st.expander("All settings", icon=":material/tune:", key="all-settings"):
        st.caption("An empty field uses the preset's value, shown in grey.")
        filled |= _all_settings(setting, methods, resolved)
    filled |= pick_start(catalog, setting, seeds, filled.get("hidden", setting_text(configs[0].hidden)))
    numeric = dict(numeric_fields(setting, methods))
    # Open where a link varies settings; the control below has not read it yet.
    is_open = any(url_state.recall(VARIED) or st.query_params.get_all(VARIED))
    with st.expander("Sweep", icon=":material/grid_on:", key="sweep", expanded=is_open):
        st.caption(ABOUT_SWEEP)
        varied = controls.several(VARIED, "Settings to vary", {name: name for name in numeric}, [])
        grid = dict(_values(varied, numeric, resolved))
        st.caption(count_words(grid))
    return Draft(setting, methods, seeds, preset, filled, grid)


def _about(spec: DatasetSpec) -> str:
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
    for title, names in groups().items():
        if title != "Length":
            st.markdown(f"**{title}**")
            filled |= fields(RunConfig, names, resolved)
    model, task = MODELS.get(setting["model"]), TASKS.get(setting["task"])
    owners = [(model.label, model.Options), (task.label, task.Options)]
    owners += [(method.label, method.Options) for method in map(METHODS.get, methods)]
    for label, options, names in option_sections(owners):
        st.markdown(f"**{label}**")
        filled |= fields(options, names, resolved)
    return filled


def option_sections(
    owners: Sequence[tuple[str, type[BaseModel]]],
) -> Iterator[tuple[str, type[BaseModel], Sequence[str]]]:
    """Yield labels, model and names of the options with the same owners; an option of several is there once."""
    labels: dict[str, list[str]] = {}
    for label, options in owners:
        for name in options.model_fields:
            labels.setdefault(name, []).append(label)
    sections: dict[tuple[str, ...], list[str]] = {}
    for name, found in labels.items():
        if name != MASKS_OF:
            sections.setdefault(tuple(found), []).append(name)
    models = dict(reversed(owners))
    for found_labels, names in sections.items():
        yield ", ".join(found_labels), models[found_labels[0]], names


def preset_values(configs: Sequence[RunConfig]) -> dict[str, Any]:
    """Return the preset's value of every setting and option; BY_METHOD where the chosen methods differ.

    >>> found = preset_values([RunConfig(epochs=100), RunConfig(options={"score": "teddy"})])
    >>> found["epochs"], found["hidden"], found["score"]
    ('by method', 512, 'teddy')
    """
    found: dict[str, Any] = {}
    for config in configs:
        for name, value in (config.model_dump(exclude={"options"}) | all_options(config)).items():
            found[name] = value if found.setdefault(name, value) == value else BY_METHOD
    return found


# Settings

# Shown where the preset's values of the chosen methods differ.
BY_METHOD = "by method"
CHOSEN_ABOVE = frozenset({"dataset", "task", "model", "method", "options"})


def groups() -> dict[str, Sequence[str]]:
    """Return the core settings by group; "Other" holds those that GROUPS does not name."""
    grouped = {name for names in GROUPS.values() for name in names} | CHOSEN_ABOVE
    other = [name for name in RunConfig.model_fields if name not in grouped]
    return {**GROUPS, **({"Other": other} if other else {})}


def fields(
    model: type[BaseModel], names: Sequence[str], resolved: Mapping[str, Any], across: int = 4
) -> dict[str, str]:
    """Show fields for settings of a model, `across` per row; return the filled ones."""
    filled: dict[str, str] = {}
    for column, name in frame.in_columns(names, across):
        field = model.model_fields[name]
        with column:
            value = _field(name, field, resolved.get(name, field.get_default()))
        if value:
            filled[name] = value
    return filled


def setting_label(name: str) -> str:
    """Return a setting's name as a label; symbols (p_graph, p_weight) stay.

    >>> setting_label("retrain_epochs"), setting_label("p_graph")
    ('Retrain epochs', 'p_graph')
    """
    return name if name in SHARES else name.replace("_", " ").capitalize()


def _field(name: str, field: FieldInfo, resolved: Any) -> str | None:
    choices = field_choices(field)
    about = f"{field.description}. Name in files and on the command line: `{name}`."
    for entry in registry_of(field):
        about += f"\n- **{entry.label}** (`{entry.name}`): {entry.description}"
    if choices:
        preset = choices.get(setting_text(resolved), setting_text(resolved))
        return controls.optional(name, setting_label(name), {"": f"{preset} (preset)", **choices}, help=about)
    # The description of a setting says what an empty field means.
    empty = (field.description or "").partition("empty = ")[2] or "not set"
    placeholder = empty if resolved is None else setting_text(resolved)
    return controls.text(name, setting_label(name), placeholder=placeholder, help=about)


def registry_of(field: FieldInfo) -> Iterable[Any]:
    """Return the entries whose names a setting takes; none for other settings."""
    return next((mark.registry for mark in field.metadata if isinstance(mark, OneOf)), ())


def field_choices(field: FieldInfo) -> dict[str, str]:
    """Return the values of a setting that has only a few, with their labels.

    >>> field_choices(RunConfig.model_fields["edge_mask"]), field_choices(RunConfig.model_fields["hidden"])
    ({'directed': 'directed', 'undirected': 'undirected'}, {})
    """
    if entries := {entry.name: entry.label for entry in registry_of(field)}:
        return entries
    values = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    return {str(value): str(value) for value in (("true", "false") if field.annotation is bool else values)}


def setting_text(value: Any) -> str:
    """Return a setting's value as typed."""
    return "not set" if value is None else value_words(value)


# Masks of another run


def pick_source(catalog: Catalog, setting: Mapping[str, str], methods: Sequence[str]) -> dict[str, str]:
    """Choose the run whose masks a method reads; returns it as a filled setting."""
    if not any(MASKS_OF in METHODS.get(name).Options.model_fields for name in methods):
        return {}
    offered = [
        run
        for run in run_select.with_rounds(catalog.own)
        if setting_of(run.config) == tuple(setting.values()) and not METHODS.get(run.config.method).reads_runs
    ]
    words = {"": "Choose a run", **run_select.run_words(offered)}
    if gone := run_select.gone_from(MASKS_OF, words):
        # It stays chosen, so that no run starts with other masks.
        run_select.tell_gone(MASKS_OF)
        return {MASKS_OF: gone[0]}
    if not offered:
        st.caption("Random tickets need one of your own finished runs on this data set, task and network.")
        return {}
    chosen = controls.optional(MASKS_OF, "Masks of", words, help="The finished run whose masks are retrained.")
    return {MASKS_OF: chosen} if chosen else {}


# Initial weights

RANDOM = {"": "Random"}


def pick_start(catalog: Catalog, setting: Mapping[str, str], seeds: str, hidden: str) -> dict[str, str]:
    """Choose the initial weights; returns them as a filled setting, empty if random.

    Offers to start a pre-training with these seeds and this width, as typed. Shows nothing for a network that takes no
    pre-trained layer.
    """
    if not takes_first_layer(setting["model"]):
        return {}
    about = "Random, or the first layer of theta_0 from a pre-training without labels (GraphCL)."
    with frame.row("start-row"):
        # A run may start while its pre-training runs, and waits for it.
        alike = [
            run
            for run in catalog.pretrainings
            if (run.config.dataset, run.config.task) == (setting["dataset"], setting["task"])
            and (run.finished() or any_active([run]))
        ]
        words = RANDOM | _pretraining_words(alike)
        gone = run_select.gone_from(PRETRAINING, words)
        chosen = controls.optional(
            PRETRAINING, "Initial weights", words, help=about, on_change=run_select.let_go(PRETRAINING)
        )
        _pretrain(catalog, setting, seeds, hidden)
    if gone:
        # It stays chosen, so that no run starts from other weights.
        run_select.tell_gone(PRETRAINING)
        return {PRETRAINING: gone[0]}
    if chosen is None:
        return {}
    st.caption("The first layer comes from the pre-training. The seed draws the rest of theta_0.")
    return {PRETRAINING: chosen}


def _pretrain(catalog: Catalog, setting: Mapping[str, str], seeds: str, hidden: str) -> None:
    with st.popover("Pre-train", icon=":material/model_training:", key="pre-train"):
        st.caption(
            f"GraphCL trains a first layer on {DATASETS.get(setting['dataset']).label} without labels: width "
            f"{frame.plain(brief(hidden))}, seeds {frame.plain(brief(seeds))}."
        )
        labels = {augmentation.name: augmentation.label for augmentation in AUGMENTATIONS}
        augmentation = controls.select("augmentation", "Augmentation", labels, "edges", width=240)
        if st.button("Start pre-training", key="start-pre-training", type="primary"):
            values = {name: setting[name] for name in ("dataset", "task")}
            config = {**values, "hidden": hidden, "augmentation": augmentation}
            with frame.or_why():
                started = start_pretraining(
                    catalog.store, resolve_pretraining(config), read_seeds(seeds), leave_busy=True
                )
                say_not_started([started])
                url_state.go("runs", run=started.run.name)


def _pretraining_words(offered: list[Pretraining]) -> dict[str, str]:
    titles = [run_select.subject(run) for run in offered]
    return {
        run.name: words
        + (f" · {run.name.rsplit('-', 1)[-1]}" if titles.count(words) > 1 else "")
        + ("" if run.finished() else " · running")
        for run, words in zip(offered, titles, strict=True)
    }


# Sweep

ACROSS = 3
# The paper's ablation (figure 7).
PAPER_SWEEP = {"p_graph": "0.05, 0.1, 0.2", "p_weight": "0.1, 0.2, 0.4"}


def numeric_fields(setting: Mapping[str, str], methods: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the numeric settings that all chosen methods share, with descriptions.

    Without `rounds`: a longer run contains the shorter ones.
    """
    of_methods = [METHODS.get(name).Options for name in methods]
    shared = [
        name
        for name in (of_methods[0].model_fields if of_methods else ())
        if all(name in of.model_fields for of in of_methods)
    ]
    yield from _numeric(RunConfig, [name for name in RunConfig.model_fields if name != "rounds"])
    for owner in (MODELS.get(setting["model"]).Options, TASKS.get(setting["task"]).Options):
        yield from _numeric(owner, list(owner.model_fields))
    if of_methods:
        yield from _numeric(of_methods[0], shared)


def count_words(grid: Mapping[str, str]) -> str:
    """Return the number of runs in words, "" while values are incomplete.

    >>> count_words({"p_graph": "0.05, 0.1", "hidden": "8,16,32"}), count_words({"p_graph": "0.1,"}), count_words({})
    ('2 values of p_graph × 3 values of hidden: 6 runs for each method.', '', '')
    """
    try:
        values = read_grid(grid.items())
    except ConfigError:
        return ""
    counts = [f"{formats.number_of(len(of), 'value')} of {name}" for name, of in values.items()]
    times = " \N{MULTIPLICATION SIGN} "
    return f"{times.join(counts)}: {math.prod(map(len, values.values()))} runs for each method."


def _values(names: Sequence[str], fields: Mapping[str, str], resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for column, name in frame.in_columns(names, ACROSS):
        about = f"{fields[name]}. Separate values by commas."
        hint, usual = f"{setting_text(resolved.get(name))}, ...", PAPER_SWEEP.get(name, "")
        with column:
            text = controls.text(f"sweep_{name}", f"Values of {name}", usual, placeholder=hint, help=about)
        yield name, text


def _numeric(model: type[BaseModel], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        field = model.model_fields[name]
        if _is_number(field.annotation):
            yield name, field.description or ""


def _is_number(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, types.UnionType):
        return any(_is_number(part) for part in get_args(annotation))
    return annotation in (int, float) or (hasattr(annotation, "__metadata__") and _is_number(get_args(annotation)[0]))


# Cost and start


def _cost(catalog: Catalog, draft: Draft) -> None:
    st.subheader("Cost", anchor=False)
    try:
        planned = launch_plan(draft)
        starts = ""
        for config in planned.configs:
            starts = check_needs(catalog.store, config, planned.seeds) or starts
    except StudioError as error:
        frame.failure(*(error.faults if isinstance(error, ConfigError) else [str(error)]))
        st.button("Start", key="start-runs", type="primary", disabled=True, width="stretch")
        return
    cost = cache.forecast_of(catalog, planned.configs, planned.seeds)
    _numbers(cost)
    _runs(catalog, planned)
    prunable_tensors(planned.configs[0])
    if starts:
        st.caption(frame.plain(starts))
    for sentence in shortages(cost, catalog.store.root):
        st.warning(frame.plain(sentence), icon=":material/warning:")
    words = f"Start {formats.number_of(len(planned.configs), 'run')}"
    if st.button(
        words, key="start-runs", type="primary", icon=":material/play_arrow:", disabled=not cost.epochs, width="stretch"
    ):
        started = start_all(catalog.store, planned.configs, planned.seeds)
        say_not_started(started)
        url_state.go("runs", run=started[0].run.name)


def _numbers(cost: Forecast) -> None:
    time = formats.duration(cost.seconds) if cost.seconds is not None else "unknown"
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


def _runs(catalog: Catalog, planned: LaunchPlan) -> None:
    known, examples = {run.name: run for run in catalog.own}, {run.name for run in catalog.examples}
    for point in planned.points[:MOST_LISTED]:
        name = run_name(point.config)
        fresh = "new; same settings as an example" if name in examples else "new"
        done = [known[name].seed(seed).whole_rounds() for seed in planned.seeds] if name in known else []
        state = _state(done, point.config.rounds) if any(done) else fresh
        with st.container(gap=None):
            with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
                st.markdown(", ".join(filter(None, (palette.label(point.config.method), point.words))), width="content")
                st.badge(state, color="green" if state == COMPLETE else "gray")
            st.caption(name)
    if len(planned.points) > MOST_LISTED:
        st.caption(f"and {len(planned.points) - MOST_LISTED} more")


def _state(done: Sequence[int], rounds: int) -> str:
    """Return a run's state from the finished rounds of each seed (with round 0).

    >>> _state([21], 20), _state([3, 5], 20), _state([21, 5, 0], 20), _state([5, 0], 20)
    ('complete', 'continues after round 2', '1 of 3 seeds complete', '1 of 2 seeds started')
    """
    complete = sum(count > rounds for count in done)
    if complete == len(done):
        return COMPLETE
    if complete:
        return f"{complete} of {len(done)} seeds complete"
    if all(done):
        return f"continues after round {min(done) - 1}"
    return f"{sum(map(bool, done))} of {len(done)} seeds started"


def prunable_tensors(config: RunConfig) -> None:
    """Show the tensors in an expander titled with the number of prunable weights."""
    spec = DATASETS.get(config.dataset)
    tensors = tensor_specs(config, network_shape(config, spec.sizes))
    title = f"Masks cover {formats.count(weight_count(config))} weights"
    with st.expander(title, icon=":material/grid_on:", key="prunable"):
        rows = [
            {
                "Tensor": tensor.name,
                "Shape": " by ".join(map(formats.count, tensor.shape)),
                "Pruned": "yes" if tensor.prunable else "no",
            }
            for tensor in tensors
        ]
        st.table(rows, border="horizontal")
        st.caption("Masks also cover every edge entry. Self-loops are never pruned.")


def launch_plan(draft: Draft) -> LaunchPlan:
    """Return the runs of a draft; raises ConfigError with all errors."""
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
    return LaunchPlan(tuple(points), seeds)


def _points(draft: Draft, method: str) -> Sequence[Point]:
    # Without options of the other methods.
    of_others = {
        name for other in draft.methods if other != method for name in METHODS.get(other).Options.model_fields
    } - set(METHODS.get(method).Options.model_fields)
    own = {name: value for name, value in draft.filled.items() if name not in of_others}
    values = {**draft.setting, "method": method, **own}
    if not draft.grid:
        return [Point({}, resolve(values, draft.preset))]
    return grid_points(values, read_grid(draft.grid.items()), draft.preset)
