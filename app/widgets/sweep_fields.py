"""The part of Launch that varies settings: which ones, and the values of each."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union, get_args, get_origin

import streamlit as st
from pydantic import BaseModel

from app.widgets import address, controls, settings
from glt.config import RunConfig
from glt.errors import ConfigError
from glt.jobs.sweeping import read_grid
from glt.methods import METHODS
from glt.models import MODELS
from glt.training.tasks import TASKS

VARIED = "vary"
ACROSS = 3
# The paper's ablation (figure 7).
PAPER = {"p_graph": "0.05, 0.1, 0.2", "p_weight": "0.1, 0.2, 0.4"}
TOLD = (
    "Every combination of the values is a run of its own, for each method. The paper's ablation varies p_graph and "
    "p_weight."
)


def pick_grid(setting: Mapping[str, str], methods: Sequence[str], resolved: Mapping[str, Any]) -> dict[str, str]:
    """Show the expander and return the varied settings, each with its values as they were typed."""
    fields = dict(numeric_fields(setting, methods))
    # What a link varies must be seen, before the control below has read it.
    open_ = any(address.recall(VARIED) or st.query_params.get_all(VARIED))
    with st.expander("Sweep", icon=":material/grid_on:", key="sweep", expanded=open_):
        st.caption(TOLD)
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
                hint = f"as in {settings.plain(resolved.get(name))}, ..."
                yield (
                    name,
                    controls.text(
                        f"sweep_{name}", f"Values of {name}", PAPER.get(name, ""), placeholder=hint, help=told
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
