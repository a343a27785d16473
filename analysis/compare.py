"""Comparison of runs: their settings, environments and scores, and groups by a setting.

`setting_differences` and `environment_differences` compare how two runs were made, `paired_table` compares their scores
seed by seed, `grouped_by` groups many runs by the value of one setting.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.labels import SHARES, SUBJECT_LABELS, dataset_label, setting_words, settings_of, task_label, value_order
from analysis.palette import label
from analysis.statistics import significances
from analysis.tables.captions import check_shared_data
from analysis.tables.curves import INTERVAL, Score, mean_and_interval
from glt.config import RunConfig
from glt.datasets.registry import current_hash
from glt.errors import ConfigError, unknown_name
from glt.jobs.sweep import value_words
from glt.presets import option_fields
from glt.results_version import KEY, resumed_with, version_of
from glt.store import Run


class SettingDifference(NamedTuple):
    """One setting that both runs use with different values, and its default."""

    setting: str
    one: Any
    other: Any
    default: Any

    def words(self) -> tuple[str, str]:
        """Return both runs' values as tables have them, and whether they are the default."""
        one, other = (
            setting_text(self.setting, value) + (" (default)" if value == self.default else "")
            for value in (self.one, self.other)
        )
        return one, other


class SettingDifferences(NamedTuple):
    """Settings of two runs: different ones, those that only one run uses, and the number of equal ones."""

    rows: list[SettingDifference]
    only_one: dict[str, Any]
    only_other: dict[str, Any]
    same: int


def setting_differences(one: RunConfig, other: RunConfig) -> SettingDifferences:
    """Compare two configs, rounds included; a run does not use settings that its method ignores.

    >>> found = setting_differences(RunConfig(hidden=64), RunConfig(hidden=16, method="random"))
    >>> [row.setting for row in found.rows], "gamma_graph" in found.only_one
    (['method', 'hidden'], True)
    """
    used, others = _used(one), _used(other)
    shared = [name for name in used if name in others]
    rows = []
    for name in shared:
        if used[name] != others[name]:
            owner = RunConfig if name in RunConfig.model_fields else option_fields(one).get(name)
            default = owner.model_fields[name].get_default() if owner is not None else None
            rows.append(SettingDifference(name, used[name], others[name], default))
    only_one = {name: value for name, value in used.items() if name not in others}
    only_other = {name: value for name, value in others.items() if name not in used}
    return SettingDifferences(rows, only_one, only_other, len(shared) - len(rows))


def setting_text(name: str, value: Any) -> str:
    """Write a setting's value as tables have it.

    >>> setting_text("p_graph", 0.05), setting_text("mask_learning_rate", None), setting_text("hidden", 64)
    ('5 %', 'not set', '64')
    """
    if value is None:
        return "not set"
    return f"{100 * value:g} %" if name in SHARES else value_words(value)


def _used(config: RunConfig) -> dict[str, Any]:
    return {**settings_of(config), "rounds": config.rounds}


# Environments: versions, threads and devices explain differences in the last bits, data larger ones

ENVIRONMENT_LABELS = {
    "threads": "threads",
    "device": "device",
    "results_version": "results version",
    "revision": "revision",
    "modified": "sources edited since",
    "sources": "sources (hash)",
    "data_hash": "data (hash)",
}
# Hashes are shown shortened.
HASHES, LETTERS = frozenset({"revision", "sources", "data_hash"}), 8


class EnvironmentDifference(NamedTuple):
    """One entry that differs: its values over the seeds of each run, () where none was recorded."""

    what: str
    one: tuple[str, ...]
    other: tuple[str, ...]


def environment_differences(one: Run, other: Run) -> list[EnvironmentDifference]:
    """Return the differences between the recorded environments, those of resumed seeds included."""
    first, second = _recorded(one), _recorded(other)
    return [
        EnvironmentDifference(what, first.get(what, ()), second.get(what, ()))
        for what in dict.fromkeys([*first, *second])
        if first.get(what) != second.get(what)
    ]


def _recorded(run: Run) -> dict[str, tuple[str, ...]]:
    recorded: dict[str, set[str]] = defaultdict(set)
    for seed in run.seeds():
        for what, value in _flat(run.seed(seed).environment()):
            recorded[what].add(value)
    return {what: tuple(sorted(values)) for what, values in recorded.items()}


def _flat(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    first = environment.get("versions")
    for versions in (first if isinstance(first, Mapping) else {}, *resumed_with(environment)):
        yield from (_entry(str(what), value) for what, value in versions.items() if value is not None)
    yield from (_entry(name, environment[name]) for name in ENVIRONMENT_LABELS if environment.get(name) is not None)
    if environment and KEY not in environment:
        yield _entry(KEY, version_of(environment))


def _entry(name: str, value: Any) -> tuple[str, str]:
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    text = current_hash(text) if name == "data_hash" else text
    return ENVIRONMENT_LABELS.get(name, name), text[:LETTERS] if name in HASHES else text


# Groups of runs

UNGROUPED = ""


def group_fields(runs: Sequence[Run]) -> dict[str, int]:
    """Return every setting of these runs with its number of values, varying settings first."""
    settings = [_settings(run) for run in runs]
    fields = dict.fromkeys(name for each in settings for name in each)
    counts = {name: len({repr(each[name]) for each in settings if name in each}) for name in fields}
    return dict(sorted(counts.items(), key=lambda each: each[1] < 2))


def grouped_by(runs: Sequence[Run], field: str) -> dict[str, str]:
    """Return the group of every run by its value of a setting, in the order of the values.

    Runs that do not use the setting form a group. Raises ConfigError for an unknown setting.
    """
    settings = {run.reference: _settings(run) for run in runs}
    fields = {name for each in settings.values() for name in each}
    if field not in fields:
        raise ConfigError(unknown_name("setting", field, fields))
    ordered = sorted(
        runs, key=lambda run: (field not in settings[run.reference], value_order(settings[run.reference].get(field)))
    )
    labels: dict[str, Callable[[Any], str]] = {**SUBJECT_LABELS, "method": label}
    words = labels.get(field, partial(setting_words, field))
    return {
        run.reference: words(own[field]) if field in (own := settings[run.reference]) else f"{field} not used"
        for run in ordered
    }


@lru_cache(maxsize=20_000)
def _settings(run: Run) -> dict[str, Any]:
    return _used(run.config)


# Paired differences of scores

At = Literal["round", "graph", "weight"]
AT_WORDS: dict[At, str] = {"round": "equal round", "graph": "equal graph sparsity", "weight": "equal weight sparsity"}
SPARSITY: dict[At, str] = {"graph": "graph_sparsity", "weight": "weight_sparsity"}
# What two scores must share, and its label.
SAME: dict[str, Callable[[str], str]] = {"dataset": dataset_label, "task": task_label, "objective": str}
# Sparsities within this distance count as equal.
EQUAL = 1e-9
AVERAGED = ["graph_sparsity", "weight_sparsity", "one", "other"]
COLUMNS = ["round", "seed", *AVERAGED, "difference"]


def shared_seeds(rounds: pd.DataFrame, one: str, other: str) -> list[int]:
    """Return the seeds that have finished a round of both runs, in ascending order."""
    seeds = rounds.groupby("run")["seed"].agg(set)
    return sorted(int(seed) for seed in seeds.get(one, set()) & seeds.get(other, set()))


def paired_seeds(rounds: pd.DataFrame, one: str, other: str, score: Score = "test", at: At = "round") -> pd.DataFrame:
    """Return one row per round of `one` and shared seed: both scores and their difference, one - other.

    `rounds` is a `rounds_table`. Columns: round, seed, graph_sparsity, weight_sparsity (of `one`), one, other,
    difference. At equal sparsity the other's score is interpolated linearly between its two nearest rounds of the same
    seed; there is no row where it was never that sparse. Raises ConfigError where the scores cannot be compared.
    """
    first, second = (rounds[rounds["run"] == run] for run in (one, other))
    for name, words in SAME.items():
        values = [*first[name].unique(), *second[name].unique()]
        if len(set(values)) > 1:
            kinds = " and ".join(dict.fromkeys(words(value) for value in values))
            raise ConfigError(f"Scores of {kinds} cannot be compared: choose two runs of one kind.")
    check_shared_data(pd.concat([first, second]), "A comparison")
    if at == "round":
        matched = first.merge(second[["seed", "round", score]], on=["seed", "round"], suffixes=("", "_other"))
        matched = matched.assign(one=matched[score], other=matched[f"{score}_other"])
    else:
        matched = first.assign(one=first[score], other=_at_sparsity(first, second, score, SPARSITY[at]))
        matched = matched.dropna(subset=["other"])
    matched = matched.assign(difference=matched["one"] - matched["other"])
    return matched[COLUMNS].sort_values(["round", "seed"]).reset_index(drop=True)


def paired_table(rounds: pd.DataFrame, one: str, other: str, score: Score = "test", at: At = "round") -> pd.DataFrame:
    """Return one row per round: means over the shared seeds and the test of their difference (one - other).

    Columns: round, graph_sparsity, weight_sparsity, one, other, difference, low, high (95% t interval, NaN below three
    seeds), p_value (two-sided paired t test), p_adjusted (Holm over the `family` rounds of this table), family,
    detectable (the smallest difference that these seeds show with 80 % power in this family), seeds, and verdict
    ("higher" or "lower" where the first run is significantly so, "none" for no significant difference, "no test").
    Raises ConfigError where the scores cannot be compared.
    """
    pairs = paired_seeds(rounds, one, other, score, at)
    groups = pairs.groupby("round", sort=True)
    table = groups[AVERAGED].mean()
    table[["difference", "low", "high"]] = mean_and_interval(groups["difference"])[INTERVAL]
    tests = significances([values.to_numpy() for _, values in groups["difference"]])
    table["p_value"] = [test.p for test in tests]
    for name in ("p_adjusted", "family", "detectable"):
        table[name] = [getattr(test, name) for test in tests]
    table["seeds"] = groups["difference"].count()
    table["verdict"] = [test.word for test in tests]
    return table.reset_index()


def _at_sparsity(first: pd.DataFrame, second: pd.DataFrame, score: Score, column: str) -> NDArray[np.float64]:
    """Return the second run's scores at the first one's sparsities, by seed; NaN outside its range."""
    scores = np.full(len(first), np.nan)
    for seed, rows in second.sort_values(column).groupby("seed"):
        of_seed = (first["seed"] == seed).to_numpy()
        places, known = first.loc[of_seed, column].to_numpy(), rows[column].to_numpy()
        inside = (places >= known[0] - EQUAL) & (places <= known[-1] + EQUAL)
        scores[of_seed] = np.where(inside, np.interp(places, known, rows[score].to_numpy()), np.nan)
    return scores
