"""Who loses by a round of each run: the tables behind both figures of losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.export.choices import FigureChoices
from analysis.export.figures.base import shown_round
from analysis.labels import dataset_label, run_labels
from analysis.removal.edges import no_classes
from analysis.removal.groups import DRAWS, loss_table
from analysis.runs import shared_graph
from analysis.subgraphs.panel import class_names, has_classes
from glt.errors import StoreError
from glt.store import Run


@dataclass(frozen=True, eq=False)
class Losses:
    """`loss_table` of every run that lost edges, told apart by run, label, method, color; the graph's classes."""

    table: pd.DataFrame
    classes: tuple[str, ...]
    caption: str

    @property
    def runs(self) -> list[pd.DataFrame]:
        """The rows of each run."""
        return [rows for _, rows in self.table.groupby("run", sort=False)]


def losses_of(runs: Sequence[Run], choices: FigureChoices) -> Losses:
    """Return who lost edges by the chosen round; raises StoreError when nobody did, ConfigError for several graphs."""
    graph, labels = shared_graph(runs, "A figure of losses"), run_labels(runs)
    parts, told = [], []
    for run in runs:
        seed, number = shown_round(run, choices)
        mask = seed.edge_mask(number)
        if not mask.either_way().all():
            about: dict[str, object] = {
                "run": run.reference,
                "label": labels[run.reference],
                "method": run.config.method,
            }
            about |= {"color": run.annotation.color, "round": number}
            parts.append(loss_table(graph, mask).assign(**about))
            told.append(f"{labels[run.reference]}, seed {seed.seed}, round {number}")
    if not parts:
        raise StoreError("Nobody loses yet: every edge is left in at least one direction. Choose a later round.")
    words = (
        f"{dataset_label(graph.name)}: {'; '.join(told)}. An edge is cut when neither direction is left. By chance: "
        f"the middle 95% of {DRAWS} draws of as many undirected edges as the round keeps."
        f"{'' if has_classes(graph) else ' ' + no_classes(graph)}"
    )
    return Losses(pd.concat(parts, ignore_index=True), class_names(graph), words)
