"""The one graph that several runs share, what can be measured or drawn side by side, and what part of a set it is."""

from __future__ import annotations

from collections.abc import Sequence

from analysis import published
from glt.config import RunConfig, options_of
from glt.data import DATASETS, Graph
from glt.errors import ConfigError
from glt.formats import count
from glt.store import Run
from glt.training.tasks import TASKS, message_graph


def shared_graph(runs: Sequence[Run], purpose: str) -> Graph:
    """Return the graph whose edges the masks of all `runs` cover; raises ConfigError when they differ.

    Link prediction takes the edges it predicts out of the graph, so runs of both tasks do not share one.
    """
    sources = {_source(run.config): run for run in runs}
    if len(sources) != 1:
        names = [f"{dataset} ({task})" for dataset, task, _ in sorted(sources)]
        raise ConfigError(
            f"{purpose} needs runs on one graph, not on {', '.join(dict.fromkeys(names)) or 'none'}: choose again."
        )
    return message_graph(next(iter(sources.values())).config)


def training_part(config: RunConfig) -> str:
    """Return the sentence that says which edges of a data set a run's graph has; "" where it has them all.

    >>> training_part(RunConfig())
    ''
    """
    edges = DATASETS.get(config.dataset).edges
    kept = TASKS.get(config.task).message_edges(edges)
    if kept == edges:
        return ""
    return (
        f"The graph is its training part: {count(kept)} of {count(edges)} edges; the others are held out for "
        "validation and test."
    )


def printed_measurements(config: RunConfig) -> dict[str, dict[str, float]]:
    """Return the paper's measurements of a run's graph; {} for a training part: the paper measured whole graphs."""
    return {} if training_part(config) else published.measurements(config.dataset)


def _source(config: RunConfig) -> tuple[str, str, str]:
    """Return what decides the graph that carries messages."""
    options = options_of(config.options, TASKS.get(config.task).Options)
    return config.dataset, config.task, options.model_dump_json()
