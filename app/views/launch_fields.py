"""Fields of the Launch form: settings, source of masks, initial weights, and sweep."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import streamlit as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from analysis.labels import SHARES
from app.components import controls, frame, run_select, url_state
from app.data.runs import Opened, any_active, setting
from app.views import run_actions
from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.errors import ConfigError
from glt.jobs.launcher import start_pretraining
from glt.jobs.sweep import read_grid, value_words
from glt.methods import METHODS
from glt.models import MODELS
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.config import resolve_pretraining, takes_first_layer
from glt.seeds import read_seeds
from glt.store import Pretraining, Run
from glt.training.tasks import TASKS
from glt.user_text import brief

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Length": ("rounds", "epochs", "retrain_epochs"),
    "Network": ("hidden", "layers", "dropout"),
    "Masks": ("edge_mask", "degree", "p_graph", "p_weight"),
    "Training": ("learning_rate", "weight_decay", "gamma_graph", "gamma_weight"),
}
CHOSEN_ABOVE = frozenset({"dataset", "task", "model", "method", "options"})


def groups() -> dict[str, Sequence[str]]:
    """Return the core settings by group; "Other" holds those that GROUPS does not name."""
    grouped = {name for names in GROUPS.values() for name in names} | CHOSEN_ABOVE
    other = [name for name in RunConfig.model_fields if name not in grouped]
    return {**GROUPS, **({"Other": other} if other else {})}


def fields(
    model: type[BaseModel], names: Sequence[str], resolved: Mapping[str, Any], across: int = 4
) -> dict[str, str]:
    """Show fields for some settings of a model, so many side by side, and return those the user filled."""
    filled: dict[str, str] = {}
    for start in range(0, len(names), across):
        columns = st.columns(across, gap="small")
        for column, name in zip(columns, names[start : start + across], strict=False):
            with column:
                field = model.model_fields[name]
                value = _field(name, field, resolved.get(name, field.get_default()))
            if value:
                filled[name] = value
    return filled


def setting_label(name: str) -> str:
    """Return a setting's name as a label; p_graph and p_weight are symbols and stay.

    >>> setting_label("retrain_epochs"), setting_label("p_graph")
    ('Retrain epochs', 'p_graph')
    """
    return name if name in SHARES else name.replace("_", " ").capitalize()


def _field(name: str, field: FieldInfo, resolved: Any) -> str | None:
    choices = _choices(field.annotation)
    told = f"{field.description}. Name in files and on the command line: `{name}`."
    if choices:
        shown = {"": f"{setting_text(resolved)} (preset)", **{choice: choice for choice in choices}}
        return controls.optional(name, setting_label(name), shown, help=told)
    # The description of a setting says what an empty field means.
    empty = (field.description or "").partition("empty = ")[2] or "not set"
    placeholder = empty if resolved is None else setting_text(resolved)
    return controls.text(name, setting_label(name), placeholder=placeholder, help=told)


def _choices(annotation: Any) -> list[str]:
    if annotation is bool:
        return ["true", "false"]
    return [str(value) for value in get_args(annotation)] if get_origin(annotation) is Literal else []


def setting_text(value: Any) -> str:
    """Write a setting's value as it is typed."""
    return "not set" if value is None else value_words(value)


MASKS_OF = "masks_of"


def pick_source(found: Opened, wanted: Mapping[str, str], methods: Sequence[str]) -> dict[str, str]:
    """Choose the run whose masks are taken, where a method reads one; returns it as a filled setting."""
    if not any(MASKS_OF in METHODS.get(name).Options.model_fields for name in methods):
        return {}
    offered = _sources(found, wanted)
    words = {"": "Choose a run", **run_select.run_words(offered)}
    if gone := run_select.gone_from(MASKS_OF, words):
        # It stays asked for, so that no run starts with other masks than it was meant to.
        run_select.tell_gone(MASKS_OF)
        return {MASKS_OF: gone[0]}
    if not offered:
        st.caption("Random tickets need a finished run of your own on this data set, task and network.")
        return {}
    chosen = controls.optional(MASKS_OF, "Masks of", words, help="The finished run whose masks are retrained.")
    return {MASKS_OF: chosen} if chosen else {}


def _sources(found: Opened, wanted: Mapping[str, str]) -> list[Run]:
    subject = (wanted["dataset"], wanted["task"], wanted["model"])
    alike = [run for run in run_select.with_rounds(found.own) if setting(run.config) == subject]
    return [run for run in alike if not METHODS.get(run.config.method).reads_runs]


PRETRAINING = "pretraining"
RANDOM = {"": "Random"}


def pick_start(found: Opened, setting: Mapping[str, str], seeds: str, hidden: str) -> dict[str, str]:
    """Show the choice, with the way to make another start, and return it as a filled setting; empty for a random one.

    A new pre-training is for these seeds and this width, as they were typed. A network that cannot take one has no
    choice.
    """
    if not takes_first_layer(setting["model"]):
        return {}
    told = "theta_0's first layer from a pre-training without labels (GraphCL)."
    with frame.row("start-row"):
        words = RANDOM | _pretraining_words(_pretrainings(found, setting))
        gone = run_select.gone_from(PRETRAINING, words)
        chosen = controls.optional(
            PRETRAINING, "Initial weights", words, help=told, on_change=run_select.let_go(PRETRAINING)
        )
        _pretrain(found, setting, seeds, hidden)
    if gone:
        # It stays asked for, so that no run starts from other weights than it was meant to.
        run_select.tell_gone(PRETRAINING)
        return {PRETRAINING: gone[0]}
    if chosen is None:
        return {}
    st.caption("The first layer comes from the pre-training; the rest of theta_0 is random, from the seed.")
    return {PRETRAINING: chosen}


def _pretrain(found: Opened, setting: Mapping[str, str], seeds: str, hidden: str) -> None:
    with st.popover("Pre-train", icon=":material/model_training:", key="pre-train"):
        st.caption(
            f"GraphCL trains a first layer, {frame.plain(brief(hidden))} wide, on "
            f"{DATASETS.get(setting['dataset']).label} without labels until its loss stops falling, for seeds "
            f"{frame.plain(brief(seeds))}. Then it can be chosen here."
        )
        labels = {each.name: each.label for each in AUGMENTATIONS}
        augmentation = controls.select("augmentation", "Augmentation", labels, "edges", width=240)
        if st.button("Start pre-training", key="start-pre-training", type="primary"):
            _start_pretraining(found, {**_subject(setting), "hidden": hidden, "augmentation": augmentation}, seeds)


def _start_pretraining(found: Opened, values: Mapping[str, str], seeds: str) -> None:
    with frame.or_why():
        started = start_pretraining(found.store, resolve_pretraining(values), read_seeds(seeds), leave_busy=True)
        run_actions.say_not_started([started])
        url_state.go("runs", run=started.run.name)


def _subject(setting: Mapping[str, str]) -> dict[str, str]:
    return {name: setting[name] for name in ("dataset", "task")}


def _pretrainings(found: Opened, setting: Mapping[str, str]) -> list[Pretraining]:
    wanted = _subject(setting)
    alike = [run for run in found.pretrainings if run.config.model_dump(include=set(wanted)) == wanted]
    # A run may be started while its pre-training is at work, and waits for it.
    return [run for run in alike if run.finished() or any_active([run])]


def _pretraining_words(offered: list[Pretraining]) -> dict[str, str]:
    titles = [run_select.subject(run) for run in offered]
    return {
        run.name: words
        + (f" · {run.name.rsplit('-', 1)[-1]}" if titles.count(words) > 1 else "")
        + ("" if run.finished() else " · at work")
        for run, words in zip(offered, titles, strict=True)
    }


VARIED = "vary"
ACROSS = 3
# The paper's ablation (figure 7).
PAPER_SWEEP = {"p_graph": "0.05, 0.1, 0.2", "p_weight": "0.1, 0.2, 0.4"}
ABOUT_SWEEP = (
    "Every combination of the values is a run of its own, for each method. The paper's ablation varies p_graph and "
    "p_weight."
)


def pick_grid(setting: Mapping[str, str], methods: Sequence[str], resolved: Mapping[str, Any]) -> dict[str, str]:
    """Show the expander and return the varied settings, each with its values as they were typed."""
    fields = dict(numeric_fields(setting, methods))
    # What a link varies must be seen, before the control below has read it.
    open_ = any(url_state.recall(VARIED) or st.query_params.get_all(VARIED))
    with st.expander("Sweep", icon=":material/grid_on:", key="sweep", expanded=open_):
        st.caption(ABOUT_SWEEP)
        names = controls.several(VARIED, "Settings to vary", {name: name for name in fields}, [])
        grid = dict(_values(names, fields, resolved))
        st.caption(count_words(grid))
    return grid


def numeric_fields(setting: Mapping[str, str], methods: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings with numbers as values that all chosen methods have, each with its description.

    `rounds` is none of them: a longer run holds the shorter ones.
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
    """Say how many runs the values make, and "" when there are none to count.

    >>> count_words({"p_graph": "0.05, 0.1", "hidden": "8,16,32"}), count_words({"p_graph": "0.1,"}), count_words({})
    ('2 values of p_graph × 3 values of hidden: 6 runs for each method.', '', '')
    """
    try:
        values = read_grid(grid.items())
    except ConfigError:
        return ""
    counts = [f"{len(of)} {'value' if len(of) == 1 else 'values'} of {name}" for name, of in values.items()]
    times = " \N{MULTIPLICATION SIGN} "
    return f"{times.join(counts)}: {math.prod(map(len, values.values()))} runs for each method."


def _values(names: Sequence[str], fields: Mapping[str, str], resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for start in range(0, len(names), ACROSS):
        for column, name in zip(st.columns(ACROSS, gap="small"), names[start : start + ACROSS], strict=False):
            told = f"{fields[name]}. Values with commas between them."
            with column:
                hint = f"as in {setting_text(resolved.get(name))}, ..."
                yield (
                    name,
                    controls.text(
                        f"sweep_{name}", f"Values of {name}", PAPER_SWEEP.get(name, ""), placeholder=hint, help=told
                    ),
                )


def _numeric(model: type[BaseModel], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        field = model.model_fields[name]
        if _is_number(field.annotation):
            yield name, field.description or ""


def _is_number(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, types.UnionType):
        return any(_is_number(part) for part in get_args(annotation))
    return annotation in (int, float) or (hasattr(annotation, "__metadata__") and _is_number(get_args(annotation)[0]))
