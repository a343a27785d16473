"""Structure of tickets: degree distributions of their graphs and sparsity of their layers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis import palette
from analysis.labels import run_labels
from analysis.measures.basic import degree_counts
from analysis.measures.graph import MeasuredGraph
from analysis.measures.null_model import random_twins
from analysis.tables.curves import mean_and_interval
from glt.datasets import Graph
from glt.masks import WeightMask
from glt.store import Run, SeedRun


def degree_table(graph: Graph, rounds: Sequence[tuple[Run, SeedRun, int]], null: bool = True) -> pd.DataFrame:
    """Return one row per graph and degree, for the original graph and a round of each run.

    Columns: `kind` (original, run, null), run, label, method, color, round, `degree`, `nodes` (with this degree),
    `at_least` (the share of nodes with this degree or more). `null` adds a random graph with as many undirected edges.
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


KEYS = ["run", "label", "method", "layer", "round"]


def layer_table(runs: Sequence[Run]) -> pd.DataFrame:
    """Return one row per run, layer and round with the removed share of the layer's prunable weights.

    Columns: run, label, method, `layer` ("Layer 1", or the name of a tensor outside the layers), round, `weights`
    (number of prunable ones), `mean`, `low` and `high` (95% t interval over seeds, NaN below three), `seeds`.
    """
    labels = run_labels(runs)
    rows = [
        (run.reference, labels[run.reference], run.config.method, layer, number, weights, removed)
        for run in runs
        for seed in map(run.seed, run.seeds())
        for number in range(seed.whole_rounds())
        for layer, weights, removed in _layers(seed.masks(number).weights)
    ]
    table = pd.DataFrame(rows, columns=[*KEYS, "weights", "removed"])
    groups = table.groupby([*KEYS, "weights"], sort=False)
    return mean_and_interval(groups["removed"]).rename(columns={"count": "seeds"}).reset_index()


def _layers(mask: WeightMask) -> Iterator[tuple[str, int, float]]:
    tensors = defaultdict(list)
    for name, keep in mask.keep.items():
        tensors[layer_of(name)].append(keep)
    for layer, parts in tensors.items():
        size = sum(part.size for part in parts)
        yield layer, size, 1 - sum(int(part.sum()) for part in parts) / size


def layer_of(tensor: str) -> str:
    """Return the label of a tensor's layer.

    >>> layer_of("layers.0.attention_source"), layer_of("encoder.weight")
    ('Layer 1', 'encoder')
    """
    start, _, rest = tensor.partition(".")
    number = rest.partition(".")[0]
    return f"Layer {int(number) + 1}" if start == "layers" and number.isdigit() else tensor.rpartition(".")[0] or tensor
