"""Runs with finished rounds, and the graph that several runs share."""

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
from glt.lottery.predictions import check_has_classes, predictions_of, without_predictions
from glt.store import Run, finished_rounds
from glt.training.tasks import TASKS, message_graph

if TYPE_CHECKING:
    import pandas as pd


def runs_with_rounds(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have a finished round; raises StoreError where there is none."""
    started = [run for run in runs if finished_rounds(run)]
    if not started:
        # Reading raises the error that names a damaged file.
        for run in runs:
            for seed in run.seeds():
                run.seed(seed).rounds()
        raise _no_rounds()
    return started


def runs_with_predictions(runs: Sequence[Run]) -> list[Run]:
    """Return the runs whose predictions are stored or can be computed; raises StoreError where there is none.

    Raises ConfigError for runs that do not predict a class a node.
    """
    begun = runs_with_rounds(runs)
    for run in begun:
        check_has_classes(run.config)
    missing = without_predictions(begun)
    if len(missing) == len(begun):
        # Reading raises the error that says what to do.
        predictions_of(begun[0].existing_seed(), 0)
    return [run for run in begun if run not in missing]


def must_have_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of rounds; raises StoreError where it is empty."""
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


def shared_graph(runs: Sequence[Run], purpose: str) -> Graph:
    """Return the graph that the masks of all `runs` cover.

    Link prediction takes the edges to predict out of the graph, so runs of both tasks never share one. Raises
    ConfigError where runs have different graphs, DataError where a seed was computed on other data of that name.
    """
    graphs = by_graph(runs)
    if len(graphs) != 1:
        remedy = "choose runs on one of them" if graphs else "choose at least one run"
        raise ConfigError(f"{purpose} needs runs on one graph, not on {' and '.join(graphs) or 'none'}: {remedy}.")
    config = runs[0].config
    check_computed_on(load_graph(config.dataset), (run.seed(seed) for run in runs for seed in run.seeds()))
    return message_graph(config)


def by_graph(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each graph by its label: the data set, and its task or split where several graphs share it."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        # The settings that determine the graph that carries messages.
        config = run.config
        options = options_of(config.options, TASKS.get(config.task).Options)
        groups.setdefault((config.dataset, config.task, options.model_dump_json()), []).append(run)
    return {_graph_words(source, groups): group for source, group in groups.items()}


def _graph_words(source: tuple[str, str, str], others: Iterable[tuple[str, str, str]]) -> str:
    dataset, task, options = source
    alike = [other for other in others if other[0] == dataset]
    details = [task_label(task)] if len({other[1] for other in alike}) > 1 else []
    splits = [json.loads(other[2]) for other in alike if other[1] == task]
    own = json.loads(options)
    details += [setting_words(name, own[name]) for name in own if any(split[name] != own[name] for split in splits)]
    return dataset_label(dataset) + (f" ({', '.join(details)})" if details else "")


def training_part(config: RunConfig) -> str:
    """Return a sentence on the share of a data set's edges in a run's graph; "" where it has them all.

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
    """Return the paper's measurements of a run's graph; {} for a training part, as the paper measured whole graphs."""
    return {} if training_part(config) else published.measurements(config.dataset)
