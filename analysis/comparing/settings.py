"""The settings in which two runs differ; those that only one of them uses stand apart, for they follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from analysis.settings import SHARES, settings_of
from glt.config import RunConfig
from glt.jobs.sweeping import value_words
from glt.presets import option_fields

LENGTH = "rounds"


class SettingDifference(NamedTuple):
    """One setting that both runs use and that has two values; `default` is what it is where nobody sets it."""

    setting: str
    one: Any
    other: Any
    default: Any

    @property
    def one_words(self) -> str:
        """The first run's value, as it is typed, and whether it is the default."""
        return _words(self.setting, self.one, self.default)

    @property
    def other_words(self) -> str:
        """The second run's value, as it is typed, and whether it is the default."""
        return _words(self.setting, self.other, self.default)


class SettingDifferences(NamedTuple):
    """What differs between two runs, what only the one and only the other uses, and how many settings are the same."""

    rows: list[SettingDifference]
    only_one: dict[str, Any]
    only_other: dict[str, Any]
    same: int


def setting_differences(one: RunConfig, other: RunConfig) -> SettingDifferences:
    """Compare two configs, rounds too; what a method ignores counts as not used by its run.

    >>> found = setting_differences(RunConfig(hidden=64), RunConfig(hidden=16, method="random"))
    >>> [row.setting for row in found.rows], "gamma_graph" in found.only_one
    (['method', 'hidden'], True)
    """
    used, others = _used(one), _used(other)
    shared = [name for name in used if name in others]
    rows = [
        SettingDifference(name, used[name], others[name], _default(name, one))
        for name in shared
        if used[name] != others[name]
    ]
    return SettingDifferences(rows, _without(used, others), _without(others, used), len(shared) - len(rows))


def setting_text(name: str, value: Any) -> str:
    """Write a setting's value as tables have it.

    >>> setting_text("p_graph", 0.05), setting_text("mask_learning_rate", None), setting_text("hidden", 64)
    ('5 %', 'not set', '64')
    """
    if value is None:
        return "not set"
    return f"{100 * value:g} %" if name in SHARES else value_words(value)


def _used(config: RunConfig) -> dict[str, Any]:
    return {**settings_of(config), LENGTH: config.rounds}


def _without(used: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in used.items() if name not in others}


def _default(name: str, config: RunConfig) -> Any:
    owner = RunConfig if name in RunConfig.model_fields else option_fields(config).get(name)
    return owner.model_fields[name].get_default() if owner is not None else None


def _words(name: str, value: Any, default: Any) -> str:
    return setting_text(name, value) + (" (default)" if value == default else "")
