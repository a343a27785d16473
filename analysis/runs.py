"""Runs with a finished round, and the one sentence for those without: a damaged table of rounds is named instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from analysis import published
from analysis.labels import dataset_label, setting_words, task_label
from glt.config import RunConfig, options_of
from glt.datasets import DATASETS, Graph, load_graph
from glt.errors import ConfigError, StoreError
from glt.formats import count
from glt.lottery.graph import check_computed_on
from glt.store import Run, finished_rounds
from glt.training.tasks import TASKS, message_graph

if TYPE_CHECKING:
    import pandas as pd


def runs_with_rounds(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have a finished round; raises StoreError where none has, or where none can be read."""
    found = [run for run in runs if finished_rounds(run)]
    if not found:
        for run in runs:
            for seed in run.seeds():
                run.seed(seed).rounds()
        raise _no_rounds()
    return found


def must_have_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row a round; raises StoreError for one without any."""
    if table.empty:
        raise _no_rounds()
    return table


def last_common_round(runs: Sequence[Run]) -> int:
    """Return the last round that all seeds of all runs have; raises StoreError where one has none."""
    last = [len(run.seed(seed).rounds()) - 1 for run in runs for seed in run.seeds()]
    if not last or min(last) < 0:
        raise _no_rounds()
    return min(last)


def _no_rounds() -> StoreError:
    return StoreError("These runs have no finished round yet: wait for round 0, or choose other runs.")


# The one graph that several runs share, what can be measured or drawn side by side, and what part of a set it is.


def shared_graph(runs: Sequence[Run], purpose: str) -> Graph:
    """Return the graph whose edges the masks of all `runs` cover; raises ConfigError when they differ.

    Link prediction takes the edges it predicts out of the graph, so runs of both tasks do not share one. Raises
    DataError where a seed was computed on another graph of that name.
    """
    graphs = by_graph(runs)
    if len(graphs) != 1:
        what = "take the runs on one of them at a time" if graphs else "choose at least one run"
        raise ConfigError(f"{purpose} needs runs on one graph, not on {' and '.join(graphs) or 'none'}: {what}.")
    config = runs[0].config
    check_computed_on(load_graph(config.dataset), (run.seed(seed) for run in runs for seed in run.seeds()))
    return message_graph(config)


def by_graph(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each graph under its name, in their order: "Cora", with more words where graphs need them.

    A task stands there where one data set has graphs of two, its settings where it has two of one task.
    """
    found: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        found.setdefault(_source(run.config), []).append(run)
    return {_graph_words(source, found): chosen for source, chosen in found.items()}


def _graph_words(source: tuple[str, str, str], others: Iterable[tuple[str, str, str]]) -> str:
    dataset, task, options = source
    alike = [other for other in others if other[0] == dataset]
    details = [task_label(task)] if len({other[1] for other in alike}) > 1 else []
    splits = [json.loads(other[2]) for other in alike if other[1] == task]
    own = json.loads(options)
    details += [setting_words(name, own[name]) for name in own if any(split[name] != own[name] for split in splits)]
    return dataset_label(dataset) + (f" ({', '.join(details)})" if details else "")


def training_part(config: RunConfig) -> str:
    """Return the sentence that says which edges of a data set a run's graph has; "" where it has them all.

    >>> training_part(RunConfig())
    ''
    """
    spec = DATASETS.get(config.dataset)
    kept = TASKS.get(config.task).message_edges(spec.edges, spec)
    if kept == spec.edges:
        return ""
    return (
        f"The graph is its training part: {count(kept)} of {count(spec.edges)} edges; the others are held out for "
        "validation and test."
    )


def printed_measurements(config: RunConfig) -> dict[str, dict[str, float]]:
    """Return the paper's measurements of a run's graph; {} for a training part: the paper measured whole graphs."""
    return {} if training_part(config) else published.measurements(config.dataset)


def _source(config: RunConfig) -> tuple[str, str, str]:
    """Return what decides the graph that carries messages."""
    options = options_of(config.options, TASKS.get(config.task).Options)
    return config.dataset, config.task, options.model_dump_json()
