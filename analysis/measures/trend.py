"""How a measure moves from round to round: a curve a run, beside what random pruning to the same density gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.measures.cache import MeasureCache
from analysis.measures.measuring import Numbers, from_first, is_mask_measured, measure_mask
from analysis.measures.nulls import DRAWS, random_twins
from analysis.measures.wording import COUNT_LABELS
from analysis.shared_graph import shared_graph
from glt.masks import EdgeMask
from glt.store import Run

if TYPE_CHECKING:
    import pandas as pd

KEPT = "edges_kept_either_way"


def unmeasured_trend(runs: Sequence[Run], name: str, *, null: bool = False, cache: MeasureCache | None = None) -> int:
    """Return how many graphs `trend_table` would have to measure at most: all from the first unknown one on."""
    graph, names = shared_graph(runs, "A trend of measurements"), [] if name in COUNT_LABELS else [name]
    full = EdgeMask.full("undirected", graph.num_edges)
    if not is_mask_measured(graph, full, cache, names):
        return 1 + _graphs(runs, null)
    masks = (mask for point in _points(runs, null) for mask in point.masks)
    return from_first((not is_mask_measured(graph, mask, cache, names) for mask in masks), _graphs(runs, null))


def _graphs(runs: Sequence[Run], null: bool) -> int:
    """Return how many graphs `_points` has, without reading a mask."""
    rounds = [run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()]
    return sum(rounds) + (DRAWS * sum(max(count - 1, 0) for count in rounds) if null else 0)


@dataclass(frozen=True)
class _Point:
    kind: str
    run: Run
    round: int
    masks: Sequence[EdgeMask]


def trend_table(
    runs: Sequence[Run],
    name: str,
    *,
    null: bool = False,
    cache: MeasureCache | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> pd.DataFrame:
    """Return one row a run and finished round for the measure or count `name`, all runs on one graph.

    Columns: `kind` (run, null), `run`, `label`, `method`, `color`, `round`, `kept` (undirected edges kept, mean over
    seeds), `mean`, `low` and `high` (95% t interval, NaN below three seeds), `seeds` (graphs behind the mean) and
    `original` (the unpruned graph's value); of a large graph also `error`, the half-width of the 95% interval of what
    is estimated there. With `null`, every pruned round has a second row: as many edges drawn at random, five draws or
    one a seed. Raises ConfigError for an unknown name or runs on several graphs, StoreError and DataError when masks
    cannot be read.
    """
    import pandas as pd

    from analysis.tables.labels import run_labels

    graph, labels = shared_graph(runs, "A trend of measurements"), run_labels(runs)
    names = [] if name in COUNT_LABELS else [name]
    full = EdgeMask.full("undirected", graph.num_edges)
    # Hundreds of graphs for one number each: the fast versions, equal to NetworkX's values to 1e-12.
    original = measure_mask(graph, full, cache, names, engine="fast")[name]
    total = sum(run.seed(seed).whole_rounds() for run in runs for seed in run.seeds())
    rows, done = [], 0
    for point in _points(runs, null):
        measured = [measure_mask(graph, mask, cache, names, engine="fast") for mask in point.masks]
        label = labels[point.run.reference]
        rows.append(_row(point, label, measured, name) | {"original": original})
        done += len(point.masks) if point.kind == "run" else 0
        if on_progress is not None:
            on_progress(done / total)
    return pd.DataFrame(rows)


def _points(runs: Sequence[Run], null: bool) -> Iterator[_Point]:
    for run in runs:
        seeds = [run.seed(seed) for seed in run.seeds()]
        for number in range(max((seed.whole_rounds() for seed in seeds), default=0)):
            masks = [(seed.seed, seed.edge_mask(number)) for seed in seeds if seed.whole_rounds() > number]
            yield _Point("run", run, number, [mask for _, mask in masks])
            if null and number:
                yield _Point("null", run, number, random_twins(masks))


def _row(point: _Point, label: str, measured: Sequence[Numbers], name: str) -> dict[str, Any]:
    from analysis.tables.statistics import deviation_of, half_width

    values = np.array([numbers[name] for numbers in measured], dtype=np.float64)
    spread = deviation_of(values)
    half = float(half_width(spread, values.size))
    errors = [numbers.errors[name] for numbers in measured if name in numbers.errors]
    return {
        "kind": point.kind,
        "run": point.run.reference,
        "label": label,
        "method": point.run.config.method,
        "color": point.run.annotation.color,
        "round": point.round,
        "kept": float(np.mean([numbers[KEPT] for numbers in measured])),
        "mean": float(values.mean()),
        "low": float(values.mean()) - half,
        "high": float(values.mean()) + half,
        "seeds": values.size,
        **({"error": float(np.mean(errors))} if errors else {}),
    }
