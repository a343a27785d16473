"""Which score a table holds, in words; scores of different tasks or metrics are no curves in one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from analysis import names
from analysis.tables.curve import Score
from glt.errors import ConfigError

SCORE_WORDS: dict[Score, str] = {
    "test": "test {metric} at the best validation epoch",
    "test_last": "test {metric} after the last epoch",
}


def metric_words(table: pd.DataFrame) -> str:
    """Return the metrics of all runs in a table with `dataset` and `task`: "accuracy", "ROC-AUC", or one or other."""
    return " or ".join(dict.fromkeys(metric for _, metric in _measured(table))) or "score"


def shared_metric(table: pd.DataFrame) -> str:
    """Return the metric of runs that stand in one figure; raises ConfigError when their scores are of several kinds."""
    found = _measured(table)
    if len(found) > 1:
        raise ConfigError(f"One figure cannot hold scores of {_told(found)}.")
    return metric_words(table)


def _measured(table: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Return the data sets of every task and metric in a table, in its order."""
    found: dict[tuple[str, str], list[str]] = {}
    for dataset, task in table[["dataset", "task"]].drop_duplicates().itertuples(index=False):
        found.setdefault((task, names.metric(dataset, task)), []).append(dataset)
    return found


def _told(found: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """Say what the scores are of, with the data sets where one task has several metrics, and what to do."""
    if len({task for task, _ in found}) == len(found):
        told = [f"{names.task(task)} ({metric})" for task, metric in found]
        return " and ".join(told) + ": choose runs of one task"
    told = [
        f"{names.task(task)} on {' and '.join(map(names.dataset, datasets))} ({metric})"
        for (task, metric), datasets in found.items()
    ]
    return " and ".join(told) + ": choose runs of one task whose scores are of one kind"


def score_words(table: pd.DataFrame, score: Score) -> str:
    """Return what a table's scores are: metric and epoch."""
    return SCORE_WORDS[score].format(metric=metric_words(table))
