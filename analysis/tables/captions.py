"""Captions of tables and figures, and checks that their scores can be compared.

`caption` is the sentence under a figure. `check_shared_data` and `shared_metric` refuse runs on different data of one
name and scores of different kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from analysis.labels import dataset_label, metric_label, model_label, task_label
from analysis.palette import crowd_styles
from analysis.tables.curves import Score, family_size
from glt.errors import ConfigError
from glt.store import MacConvention, Run
from glt.verdicts import DELTA, FEWEST, rule_words

# Characters of a content hash that are shown.
LETTERS = 8
AND = ", "


def data_of(runs: Sequence[Run]) -> dict[str, str]:
    """Return the shortened content hash of each run's data, "" where all runs on its data set have the same.

    Several hashes, with commas, where seeds of one run differ. Runs without a recorded hash are left out.
    """
    recorded: dict[str, list[str]] = {}
    hashes: dict[str, set[str]] = {}
    for run in runs:
        contents = {run.seed(seed).data_hash() for seed in run.seeds()}
        recorded[run.reference] = sorted(content[:LETTERS] for content in contents if content)
        hashes.setdefault(run.config.dataset, set()).update(recorded[run.reference])
    mixed = {dataset for dataset, of_set in hashes.items() if len(of_set) > 1}
    return {run.reference: AND.join(recorded[run.reference]) if run.config.dataset in mixed else "" for run in runs}


def data_words(table: pd.DataFrame) -> str:
    """List the runs on different data of one name in a table with `dataset`, `data` and `run`; "" for none."""
    return "; ".join(
        f"{dataset_label(dataset)} is not the same data in all runs ({_named(runs)}), so scores cannot be compared"
        for dataset, runs in _mixed(table).items()
    )


def check_shared_data(table: pd.DataFrame, what: str) -> None:
    """Raise ConfigError where runs of a table are on different data of one name; `what` names the figure or table."""
    for dataset, runs in _mixed(table).items():
        raise ConfigError(
            f"{what} cannot show scores on different data under the name {dataset_label(dataset)}: {_named(runs)}; "
            "choose runs on one of them."
        )


def _mixed(table: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Return the runs by content of every data set with several contents, in the table's order."""
    contents: dict[str, dict[str, list[str]]] = {}
    known = table.loc[table["data"] != "", ["dataset", "data", "run"]].drop_duplicates()
    for dataset, data, run in known.itertuples(index=False):
        contents.setdefault(dataset, {}).setdefault(data, []).append(run)
    return {dataset: runs for dataset, runs in contents.items() if len(runs) > 1 or AND in next(iter(runs))}


def _named(contents: Mapping[str, Sequence[str]]) -> str:
    names = {data: runs[0] + (f" and {len(runs) - 1} more" if len(runs) > 1 else "") for data, runs in contents.items()}
    return " and ".join(f"{runs} on content {data}" for data, runs in names.items())


# Metrics

SCORE_WORDS: dict[Score, str] = {
    "test": "test {metric} at the best validation epoch",
    "test_last": "test {metric} after the last epoch",
}


def metric_words(table: pd.DataFrame) -> str:
    """Return the metrics in a table with `dataset` and `task`: "accuracy", "ROC-AUC", or both with "or"."""
    return " or ".join(dict.fromkeys(metric for _, metric in _measured(table))) or "score"


def shared_metric(table: pd.DataFrame) -> str:
    """Return the metric of all runs in a table; raises ConfigError for several kinds of scores."""
    measured = _measured(table)
    if len(measured) > 1:
        # Data sets are named where one task has several metrics.
        one_metric = len({task for task, _ in measured}) == len(measured)
        kinds = [
            task_label(task)
            + ("" if one_metric else f" on {' and '.join(map(dataset_label, datasets))}")
            + f" ({metric})"
            for (task, metric), datasets in measured.items()
        ]
        remedy = "choose runs of one task" + ("" if one_metric else " with one metric")
        raise ConfigError(f"One figure cannot show scores of {' and '.join(kinds)}: {remedy}.")
    return metric_words(table)


def _measured(table: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Return the data sets of every task and metric in a table, in its order."""
    measured: dict[tuple[str, str], list[str]] = {}
    for dataset, task in table[["dataset", "task"]].drop_duplicates().itertuples(index=False):
        measured.setdefault((task, metric_label(dataset, task)), []).append(dataset)
    return measured


def score_words(table: pd.DataFrame, score: Score) -> str:
    """Return the metric and the epoch of a table's scores."""
    return SCORE_WORDS[score].format(metric=metric_words(table))


# Captions

MAC_WORDS: dict[MacConvention, str] = {
    "dense_features": "dense features (zeros too, as the paper says)",
    "sparse_features": "sparse features (what a sparse library executes)",
    "published": "the recipe behind the paper's printed numbers",
}


def caption(
    rounds: pd.DataFrame,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    paper: bool = False,
) -> str:
    """Return the caption of a figure of `rounds`: runs, score, rounds, seeds, verdicts and MACs convention."""
    if rounds.empty:
        return "No finished rounds."
    last, family = int(rounds["round"].max()), family_size(rounds, score)
    seen = rounds[["dataset", "task", "objective", "model"]].drop_duplicates()
    settings = _join(
        f"{dataset_label(dataset)} {task_label(task, objective)} with {model_label(model)}"
        for dataset, task, objective, model in seen.itertuples(index=False)
    )
    counts = rounds.groupby(["run", "round"], sort=False)["seed"].nunique()
    seeds = averaged_over(counts, intervals=not crowd_styles(rounds))
    parts = [
        f"{settings}: {_join(dict.fromkeys(rounds['label']))}",
        f"{score_words(rounds, score)} in rounds 0 to {last} ({seeds})",
        "dashed: the dense model (round 0) under the same protocol",
        f"stars: tickets, {rule_words(margin, family)}" if family else "no verdicts: they need two seeds or more",
        f"MACs count {MAC_WORDS[macs]}",
    ]
    if paper:
        parts.append(
            "open markers: the paper's printed points, stars by its own criterion, mean at least the dense mean"
        )
    if mixed := data_words(rounds):
        parts.append(mixed)
    return "; ".join(parts) + "."


def averaged_over(counts: Iterable[int], intervals: bool = True) -> str:
    """Write the number of seeds behind means, and whether there is an interval.

    >>> averaged_over([5, 5]), averaged_over([1]), averaged_over([4], intervals=False)
    ('mean and 95% t interval over 5 seeds', '1 seed, no interval', 'mean over 4 seeds, without intervals')
    >>> averaged_over([2]), averaged_over([1, 5])
    ('mean over 2 seeds, too few for an interval', 'mean and, from 3 seeds on, 95% t interval over 1 to 5 seeds')
    """
    low, high = min(counts := set(counts)), max(counts)
    if low == high == 1:
        return "1 seed, no interval"
    number = str(low) if low == high else f"{low} to {high}"
    if not intervals:
        return f"mean over {number} seeds, without intervals"
    if high < FEWEST:
        return f"mean over {number} seeds, too few for an interval"
    condition = "" if low >= FEWEST else f", from {FEWEST} seeds on,"
    return f"mean and{condition} 95% t interval over {number} seeds"


def _join(words: Iterable[str]) -> str:
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
