"""Fields for the settings of a run, made from RunConfig and the methods' Options: descriptions become the help."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from analysis.settings import SHARES
from app.widgets import controls
from glt.config import RunConfig
from glt.jobs.sweeping import value_words

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Length": ("rounds", "epochs", "retrain_epochs"),
    "Network": ("hidden", "layers", "dropout"),
    "Masks": ("edge_mask", "degree", "p_graph", "p_weight"),
    "Training": ("learning_rate", "weight_decay", "gamma_graph", "gamma_weight"),
}
CHOSEN_ABOVE = frozenset({"dataset", "task", "model", "method", "options"})


def ungrouped() -> tuple[str, ...]:
    """Return the core settings that no group names, so that a new one appears without an edit here."""
    grouped = {name for names in GROUPS.values() for name in names}
    return tuple(name for name in RunConfig.model_fields if name not in grouped | CHOSEN_ABOVE)


def core_fields(names: Sequence[str], resolved: Mapping[str, Any], across: int = 4) -> dict[str, str]:
    """Show fields for core settings, so many side by side, and return those the user filled."""
    return _fields(RunConfig, names, resolved, across)


def option_fields(model: type[BaseModel], resolved: Mapping[str, Any], without: Collection[str]) -> dict[str, str]:
    """Show fields for the settings of a method, model or task but some, and return those the user filled."""
    return _fields(model, [name for name in model.model_fields if name not in without], resolved, 4)


def words(name: str) -> str:
    """Return a setting's name as a label; p_graph and p_weight are symbols and stay.

    >>> words("retrain_epochs"), words("p_graph")
    ('Retrain epochs', 'p_graph')
    """
    return name if name in SHARES else name.replace("_", " ").capitalize()


def _fields(model: type[BaseModel], names: Sequence[str], resolved: Mapping[str, Any], across: int) -> dict[str, str]:
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


def _field(name: str, field: FieldInfo, resolved: Any) -> str | None:
    choices = _choices(field.annotation)
    told = f"{field.description}. Name in files and on the command line: `{name}`."
    if choices:
        shown = {"": f"{plain(resolved)} (preset)", **{choice: choice for choice in choices}}
        return controls.optional(name, words(name), shown, help=told)
    placeholder = _empty_means(field) if resolved is None else plain(resolved)
    return controls.text(name, words(name), placeholder=placeholder, help=told)


def _choices(annotation: Any) -> list[str]:
    if annotation is bool:
        return ["true", "false"]
    return [str(value) for value in get_args(annotation)] if get_origin(annotation) is Literal else []


def _empty_means(field: FieldInfo) -> str:
    """Return what stands for a setting that is not set, as its description says it."""
    return (field.description or "").partition("empty = ")[2] or "not set"


def plain(value: Any) -> str:
    """Write a setting's value as it is typed."""
    return "not set" if value is None else value_words(value)
