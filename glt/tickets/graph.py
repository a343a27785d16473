"""The graph that a seed was computed on: another one of the same name is refused, for its edges are not the masks'."""

from __future__ import annotations

import os
from collections.abc import Iterable

from glt.data import DATASETS, Graph, load_graph
from glt.errors import DataError
from glt.store import SeedRun
from glt.training.tasks import TASKS

# Contents are told apart by so many letters of their hashes.
LETTERS = 8


def graph_of(seed_run: SeedRun) -> Graph:
    """Return the graph that carries a seed's messages, the one its edge masks cover; raises DataError for another."""
    config = seed_run.config
    return TASKS.get(config.task).message_graph(whole_graph_of(seed_run), config)


def whole_graph_of(seed_run: SeedRun) -> Graph:
    """Return a seed's data set, edges to be predicted included; raises DataError where the one here is another."""
    graph = load_graph(seed_run.config.dataset)
    check_computed_on(graph, [seed_run])
    return graph


def check_computed_on(graph: Graph, seed_runs: Iterable[SeedRun]) -> None:
    """Raise DataError when a seed recorded that its data set had another content than this `graph`."""
    for seed_run in seed_runs:
        recorded = seed_run.data_hash()
        if recorded is not None and recorded != graph.content_hash:
            raise DataError(_refusal(graph, seed_run, recorded))


def _refusal(graph: Graph, seed_run: SeedRun, recorded: str) -> str:
    root = os.environ.get("GLT_DATA")
    return (
        f"The data set {graph.name} here{f' (GLT_DATA={root})' if root else ''} is not the one that seed "
        f"{seed_run.seed} of {seed_run.path.parent.name} was computed on (content {graph.content_hash[:LETTERS]}, then "
        f"{recorded[:LETTERS]}): {_remedy(graph)}."
    )


def _remedy(graph: Graph) -> str:
    if graph.name in DATASETS.names() and DATASETS.get(graph.name).bundled:
        return "open the run with the version of GLT Studio that computed it"
    return "set GLT_DATA to the folder with that data and start again"
