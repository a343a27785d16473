"""Runs put together by the value of one setting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from analysis.palette import label
from analysis.settings import setting_words, settings_of, value_order
from analysis.tables.labels import SUBJECT
from glt.errors import ConfigError, unknown_name
from glt.store import Run

UNGROUPED = ""
ROUNDS = "rounds"


def group_fields(runs: Sequence[Run]) -> dict[str, int]:
    """Return every setting of these runs with the number of its values, those that vary first."""
    settings = [_settings(run) for run in runs]
    fields = dict.fromkeys(name for each in settings for name in each)
    counts = {name: len({repr(each[name]) for each in settings if name in each}) for name in fields}
    return dict(sorted(counts.items(), key=lambda each: each[1] < 2))


def grouped_by(runs: Sequence[Run], field: str) -> dict[str, str]:
    """Return the group of every run, by its name, in the order of the values; raises ConfigError for no such setting.

    Runs that do not use the setting are a group of their own.
    """
    settings = {run.reference: _settings(run) for run in runs}
    fields = {name for each in settings.values() for name in each}
    if field not in fields:
        raise ConfigError(unknown_name("setting", field, fields))
    ordered = sorted(
        runs, key=lambda run: (field not in settings[run.reference], value_order(settings[run.reference].get(field)))
    )
    return {run.reference: _words(field, settings[run.reference]) for run in ordered}


@lru_cache(maxsize=20_000)
def _settings(run: Run) -> dict[str, Any]:
    return {**settings_of(run.config), ROUNDS: run.config.rounds}


def _words(field: str, settings: dict[str, Any]) -> str:
    if field not in settings:
        return f"{field} not used"
    if field == "method":
        return label(settings[field])
    return SUBJECT[field](settings[field]) if field in SUBJECT else setting_words(field, settings[field])
