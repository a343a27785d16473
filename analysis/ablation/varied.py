"""Which settings differ among runs, and which runs vary one of them alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.labels import setting_words, settings_of, value_order
from analysis.runs import runs_with_rounds
from analysis.style import palette
from analysis.style.palette import Style
from glt.commands import command
from glt.config import RunConfig
from glt.errors import ConfigError
from glt.store import Run, finished_rounds

SHARED = ("dataset", "task", "model", "method")
MOST_PANELS = 4


@dataclass(frozen=True, eq=False)
class Varied:
    """One panel: the setting that varies, its runs in the order of its values, and what is fixed that others vary."""

    field: str
    runs: tuple[Run, ...]
    labels: Mapping[str, str]
    fixed: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Say what the panel keeps fixed, "" where nothing else varies among all the runs."""
        return ", ".join(setting_words(name, value) for name, value in self.fixed.items())

    def styles(self) -> dict[str, Style]:
        """Return how each run looks, by name."""
        return dict(zip(self.labels, palette.steps(len(self.runs)), strict=True))


def ablation_panels(runs: Sequence[Run]) -> list[Varied]:
    """Return one panel for every setting that differs among runs with a finished round, in the config's order.

    A panel takes the largest group of runs that differ in its setting alone; of equal groups, the one whose other
    settings are more often the defaults. Raises StoreError without finished rounds, ConfigError when no setting
    differs, too many do, or one never varies alone.
    """
    begun = runs_with_rounds(runs)
    settings = {run.reference: settings_of(run.config) for run in begun}
    fields = _differing(settings)
    _check(fields)
    return [_panel(field, fields, begun, settings) for field in fields]


def left_out(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that stand in no panel, because they differ from the panels' in further settings."""
    shown = {run.reference for panel in ablation_panels(runs) for run in panel.runs}
    return [run for run in runs if run.reference not in shown and finished_rounds(run)]


def one_sweep(runs: Sequence[Run]) -> list[Run]:
    """Return the largest group of runs of which each differs from one of them in a single setting."""
    settings = {run.reference: settings_of(run.config) for run in runs}
    around = [
        [other for other in runs if _apart(settings[run.reference], settings[other.reference]) < 2] for run in runs
    ]
    return max(around, key=len, default=[])


def panel_rounds(rounds: pd.DataFrame, panel: Varied) -> pd.DataFrame:
    """Return the rows of a `rounds_table` that belong to a panel, its runs in order and labelled by their values."""
    order = {run: place for place, run in enumerate(panel.labels)}
    mine = rounds[rounds["run"].isin(order)]
    mine = mine.assign(label=mine["run"].map(panel.labels))
    return mine.sort_values("run", key=lambda names: names.map(order), kind="stable").reset_index(drop=True)


def _differing(settings: Mapping[str, Mapping[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for each in settings.values() for name in each)
    return [name for name in names if len({repr(each.get(name)) for each in settings.values()}) > 1]


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """Count the settings in which two runs differ; runs of two methods or subjects are further apart than any."""
    if any(one[name] != other[name] for name in SHARED):
        return len(one) + 1
    return sum(one.get(name) != other.get(name) for name in one.keys() | other.keys())


def _check(fields: Sequence[str]) -> None:
    apart = [name for name in fields if name in SHARED]
    if apart:
        raise ConfigError(
            f"An ablation is about one data set, task, model and method, but these runs differ in {apart[0]}: "
            "choose runs of one sweep."
        )
    if not fields:
        raise ConfigError(
            f"An ablation needs runs that differ in a setting: choose at least two of one sweep ({command('sweep')})."
        )
    if len(fields) > MOST_PANELS:
        raise ConfigError(
            f"These runs differ in {len(fields)} settings ({', '.join(fields)}), more than the {MOST_PANELS} panels "
            "there is room for: choose fewer runs."
        )


def _panel(field: str, fields: Sequence[str], runs: Sequence[Run], settings: Mapping[str, Mapping[str, Any]]) -> Varied:
    others = [name for name in fields if name != field]
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(repr(settings[run.reference].get(name)) for name in others), []).append(run)
    group = max(groups.values(), key=lambda members: (len(members), _defaults(settings[members[0].reference], others)))
    if len(group) < 2:
        raise ConfigError(
            f"No two of these runs differ in {field} alone: add the runs between them, as a full grid has them."
        )
    first = settings[group[0].reference]
    ordered = sorted(group, key=lambda run: value_order(settings[run.reference].get(field)))
    labels = {run.reference: setting_words(field, settings[run.reference].get(field)) for run in ordered}
    return Varied(field, tuple(ordered), labels, {name: first.get(name) for name in others})


def _defaults(settings: Mapping[str, Any], names: Sequence[str]) -> int:
    fields = RunConfig.model_fields
    return sum(name in fields and settings.get(name) == fields[name].default for name in names)
