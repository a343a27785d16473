"""The one graph that several runs share: what can be measured or drawn side by side."""

from __future__ import annotations

from collections.abc import Sequence

from glt.config import RunConfig, options_of
from glt.data import Graph
from glt.errors import ConfigError
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


def _source(config: RunConfig) -> tuple[str, str, str]:
    """Return what decides the graph that carries messages."""
    options = options_of(config.options, TASKS.get(config.task).Options)
    return config.dataset, config.task, options.model_dump_json()
