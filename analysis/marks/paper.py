"""The paper's printed points as marks on our axes."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from analysis import published
from analysis.tables.curves import XAxis
from glt.store import MacConvention


class PaperMark(NamedTuple):
    """One open marker: the printed point, its x (fraction or count), and what the paper's own criterion says of it.

    By that criterion a ticket is a mean of at least the dense mean; it tests nothing.
    """

    point: published.PublishedPoint
    x: float
    is_ticket: bool


def paper_marks(table: pd.DataFrame, x: XAxis, macs: MacConvention) -> list[PaperMark]:
    """Return the paper's points for the settings and methods in a `curve_table`.

    Points without a printed place on the axis are left out: no MACs printed, or counted in another convention.
    """
    wanted = table[["dataset", "model", "task", "method"]].drop_duplicates().itertuples(index=False, name=None)
    found = []
    for dataset, model, task, method in wanted:
        dense = paper_dense(dataset, model, task)
        for point in published.points(dataset, model, task):
            place = _place(point, x, macs)
            if point.method == method and place is not None:
                found.append(PaperMark(point, place, dense is not None and point.score >= dense))
    return found


def paper_baselines(table: pd.DataFrame) -> list[float]:
    """Return the paper's dense scores (fractions) for the settings in a `curve_table`."""
    settings = table[["dataset", "model", "task"]].drop_duplicates().itertuples(index=False, name=None)
    found = [paper_dense(*setting) for setting in settings]
    return [score for score in found if score is not None]


def paper_dense(dataset: str, model: str, task: str) -> float | None:
    """Return the paper's dense score (fraction), None where it prints none."""
    return next((p.score for p in published.points(dataset, model, task) if p.method == published.DENSE), None)


def _place(point: published.PublishedPoint, x: XAxis, macs: MacConvention) -> float | None:
    if x == "macs":
        return None if macs == "sparse_features" else point.macs
    return point.graph_sparsity if x == "graph" else point.weight_sparsity
