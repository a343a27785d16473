"""Which data runs were computed on: graphs that share the name of a data set give scores that do not compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from analysis.labels import dataset_label, metric_label, model_label, task_label
from analysis.statistics import FEWEST
from analysis.style.palette import crowd_styles
from analysis.tables.curves import Score, family_size
from glt.errors import ConfigError
from glt.store import MacConvention, Run
from glt.verdicts import DELTA, rule_words

# Contents are told apart by so many letters of their hashes.
LETTERS = 8
AND = ", "


def data_of(runs: Sequence[Run]) -> dict[str, str]:
    """Return what tells the data of each run from that of the others, "" where all on its data set have the same.

    It is the beginning of the hash of the data's content, or several with commas where seeds of one run differ. Runs
    that recorded none are left out.
    """
    recorded = {run.reference: _recorded(run) for run in runs}
    of_set: dict[str, set[str]] = {}
    for run in runs:
        of_set.setdefault(run.config.dataset, set()).update(recorded[run.reference])
    several = {dataset for dataset, found in of_set.items() if len(found) > 1}
    return {run.reference: AND.join(recorded[run.reference]) if run.config.dataset in several else "" for run in runs}


def data_words(table: pd.DataFrame) -> str:
    """Say of a table with `dataset`, `data` and `run` which runs are on other data of one name; "" where none are."""
    return "; ".join(
        f"{dataset_label(dataset)} is not the same data in all runs ({_named(found)}), so scores cannot be compared"
        for dataset, found in _mixed(table).items()
    )


def check_shared_data(table: pd.DataFrame, what: str) -> None:
    """Raise ConfigError when runs of a table are on other data of one name; `what` cannot hold them."""
    for dataset, found in _mixed(table).items():
        raise ConfigError(
            f"{what} cannot show scores on different data under the name {dataset_label(dataset)}: {_named(found)}; "
            "choose runs on one of them."
        )


def _recorded(run: Run) -> list[str]:
    found = {run.seed(seed).data_hash() for seed in run.seeds()}
    return sorted(known[:LETTERS] for known in found if known)


def _mixed(table: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Return for every data set with several contents the runs of each, in the table's order."""
    found: dict[str, dict[str, list[str]]] = {}
    known = table.loc[table["data"] != "", ["dataset", "data", "run"]].drop_duplicates()
    for dataset, data, run in known.itertuples(index=False):
        found.setdefault(dataset, {}).setdefault(data, []).append(run)
    return {dataset: runs for dataset, runs in found.items() if len(runs) > 1 or AND in next(iter(runs))}


def _named(found: Mapping[str, Sequence[str]]) -> str:
    return " and ".join(f"{_runs(runs)} on content {data}" for data, runs in found.items())


def _runs(runs: Sequence[str]) -> str:
    return runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1} more"


# Which score a table holds, in words; scores of different tasks or metrics are no curves in one figure.


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
        raise ConfigError(f"One figure cannot show scores of {_named_scores(found)}.")
    return metric_words(table)


def _measured(table: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Return the data sets of every task and metric in a table, in its order."""
    found: dict[tuple[str, str], list[str]] = {}
    for dataset, task in table[["dataset", "task"]].drop_duplicates().itertuples(index=False):
        found.setdefault((task, metric_label(dataset, task)), []).append(dataset)
    return found


def _named_scores(found: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """Say what the scores are of, with the data sets where one task has several metrics, and what to do."""
    if len({task for task, _ in found}) == len(found):
        told = [f"{task_label(task)} ({metric})" for task, metric in found]
        return " and ".join(told) + ": choose runs of one task"
    told = [
        f"{task_label(task)} on {' and '.join(map(dataset_label, datasets))} ({metric})"
        for (task, metric), datasets in found.items()
    ]
    return " and ".join(told) + ": choose runs of one task whose scores are of one kind"


def score_words(table: pd.DataFrame, score: Score) -> str:
    """Return what a table's scores are: metric and epoch."""
    return SCORE_WORDS[score].format(metric=metric_words(table))


# The sentence under every figure: which runs, seeds, rounds and data, which score and which way of counting MACs.


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
    """Return one sentence on what a figure of `rounds` shows, for the screen, a paper or a bundle."""
    if rounds.empty:
        return "No finished rounds."
    last = int(rounds["round"].max())
    parts = [
        f"{_settings(rounds)}: {_join(_labels(rounds))}",
        f"{score_words(rounds, score)} in rounds 0 to {last} ({_seeds(rounds)})",
        "dashed: the dense model (round 0) under the same protocol",
        _stars(rounds, score, margin),
        f"MACs count {MAC_WORDS[macs]}",
    ]
    if paper:
        parts.append(
            "open markers: the paper's printed points, stars by its own criterion, mean at least the dense mean"
        )
    if mixed := data_words(rounds):
        parts.append(mixed)
    return "; ".join(parts) + "."


def _settings(rounds: pd.DataFrame) -> str:
    seen = rounds[["dataset", "task", "objective", "model"]].drop_duplicates()
    return _join(
        f"{dataset_label(dataset)} {task_label(task, objective)} with {model_label(model)}"
        for dataset, task, objective, model in seen.itertuples(index=False)
    )


def _labels(rounds: pd.DataFrame) -> Iterable[str]:
    return list(dict.fromkeys(rounds["label"]))


def _seeds(rounds: pd.DataFrame) -> str:
    counts = rounds.groupby(["run", "round"], sort=False)["seed"].nunique()
    return averaged_over(counts, intervals=not crowd_styles(rounds))


def averaged_over(counts: Iterable[int], intervals: bool = True) -> str:
    """Say over how many seeds means were taken, and whether there is an interval; so many curves may be without.

    >>> averaged_over([5, 5]), averaged_over([1]), averaged_over([4], intervals=False)
    ('mean and 95% t interval over 5 seeds', '1 seed, no interval', 'mean over 4 seeds, without intervals')
    >>> averaged_over([2]), averaged_over([1, 5])
    ('mean over 2 seeds, too few for an interval', 'mean and, from 3 seeds on, 95% t interval over 1 to 5 seeds')
    """
    found = sorted(set(counts))
    if found == [1]:
        return "1 seed, no interval"
    number = str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"
    if not intervals:
        return f"mean over {number} seeds, without intervals"
    if found[-1] < FEWEST:
        return f"mean over {number} seeds, too few for an interval"
    condition = "" if found[0] >= FEWEST else f", from {FEWEST} seeds on,"
    return f"mean and{condition} 95% t interval over {number} seeds"


def _stars(rounds: pd.DataFrame, score: Score, margin: float) -> str:
    family = family_size(rounds, score)
    return f"stars: tickets, {rule_words(margin, family)}" if family else "no verdicts: they need two seeds or more"


def _join(words: Iterable[str]) -> str:
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
