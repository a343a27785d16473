"""Degree distributions of the original graph, of what a round of each run left, and of as dense a random graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis import palette
from analysis.measures import MeasuredGraph, random_twins
from analysis.measures.basic import degree_counts
from analysis.tables.labels import run_labels
from glt.data import Graph
from glt.store import Run, SeedRun


def degree_table(graph: Graph, rounds: Sequence[tuple[Run, SeedRun, int]], null: bool = True) -> pd.DataFrame:
    """Return a row for every graph and degree from 0 to its largest.

    Columns: `kind` (original, run, null), run, label, method, color, round, `degree`, `nodes` (how many have it),
    `at_least` (the share of nodes with so many neighbours or more). `null` adds one draw of as many undirected edges.
    """
    whole = MeasuredGraph.of(graph)
    labels = run_labels([run for run, _, _ in rounds])
    parts = [_rows(whole, kind="original", run="", label="Original", method=palette.DENSE, color="", round=0)]
    for run, seed, number in rounds:
        mask = seed.edge_mask(number)
        about: dict[str, object] = {"run": run.reference, "label": labels[run.reference], "method": run.config.method}
        about |= {"color": run.annotation.color, "round": number}
        parts.append(_rows(whole.keeping(mask.either_way()), kind="run", **about))
        if null:
            twin = random_twins([(seed.seed, mask)], 1)[0]
            parts.append(_rows(whole.keeping(twin.either_way()), kind="null", **about))
    return pd.concat(parts, ignore_index=True)


def _rows(graph: MeasuredGraph, **about: object) -> pd.DataFrame:
    counts = degree_counts(graph)
    share = np.cumsum(counts[::-1])[::-1] / max(counts.sum(), 1)
    return pd.DataFrame({**about, "degree": np.arange(counts.size), "nodes": counts, "at_least": share})
