"""Which score a table holds, in words; scores of different tasks are no curves in one figure."""

from __future__ import annotations

import pandas as pd

from analysis import names
from analysis.tables.curve import Score
from glt.errors import ConfigError

SCORE_WORDS: dict[Score, str] = {
    "test": "test {metric} at the best validation epoch",
    "test_last": "test {metric} after the last epoch",
}


def metric_words(table: pd.DataFrame) -> str:
    """Return the metrics of all runs in a table with a `task` column: "accuracy", "ROC-AUC", or one or the other."""
    return names.metric(*table["task"].unique())


def shared_metric(table: pd.DataFrame) -> str:
    """Return the metric of runs that stand in one figure; raises ConfigError when they are of several tasks."""
    tasks = list(table["task"].unique())
    if len(tasks) > 1:
        told = " and ".join(f"{names.task(task)} ({names.metric(task)})" for task in tasks)
        raise ConfigError(f"One figure cannot hold scores of {told}: choose runs of one task.")
    return metric_words(table)


def score_words(table: pd.DataFrame, score: Score) -> str:
    """Return what a table's scores are: metric and epoch."""
    return SCORE_WORDS[score].format(metric=metric_words(table))
