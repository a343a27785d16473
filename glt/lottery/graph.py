"""The graph a seed was computed on; a changed data set is an error."""

from __future__ import annotations

import os
from collections.abc import Iterable

from glt.datasets import DATASETS, Graph, load_graph
from glt.errors import DataError
from glt.store import SeedRun
from glt.training.tasks import TASKS

# Characters of a content hash in messages.
LETTERS = 8


def graph_of(seed_run: SeedRun) -> Graph:
    """Return a seed's message graph, which its masks cover; raise DataError if it has changed."""
    config = seed_run.config
    return TASKS.get(config.task).message_graph(whole_graph_of(seed_run), config)


def whole_graph_of(seed_run: SeedRun) -> Graph:
    """Return a seed's whole data set; raise DataError if it has changed."""
    graph = load_graph(seed_run.config.dataset)
    check_computed_on(graph, [seed_run])
    return graph


def check_computed_on(graph: Graph, seed_runs: Iterable[SeedRun]) -> None:
    """Raise DataError if a seed was computed on other content than `graph`."""
    for seed_run in seed_runs:
        recorded = seed_run.data_hash()
        if recorded is not None and recorded != graph.content_hash:
            root = os.environ.get("GLT_DATA")
            remedy = "set GLT_DATA to the folder with the original data and start again"
            if graph.name in DATASETS.names() and DATASETS.get(graph.name).bundled:
                remedy = "open the run with the version of GLT Studio that computed it"
            raise DataError(
                f"The data set {graph.name} here{f' (GLT_DATA={root})' if root else ''} differs from the one that seed "
                f"{seed_run.seed} of {seed_run.path.parent.name} was computed on (content hash "
                f"{graph.content_hash[:LETTERS]} instead of {recorded[:LETTERS]}): {remedy}."
            )
