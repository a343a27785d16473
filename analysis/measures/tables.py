"""Tables of measurements: graphs, rounds, and nodes and edges ranked by betweenness.

`measurement_table` compares graphs, `trend_table` follows one measure over rounds, `node_table` and `edge_table` rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from analysis.labels import run_labels
from analysis.measures.centrality import TIE, Betweenness, ranks_from_the_top, tie_groups
from analysis.measures.compute import Engine, Numbers, count_unmeasured, is_mask_measured, measure_mask
from analysis.measures.descriptions import COUNT_LABELS
from analysis.measures.graph import FloatArray, MeasuredGraph
from analysis.measures.null_model import DRAWS, random_twins
from analysis.published import measured_alike
from analysis.runs import shared_graph
from analysis.statistics import deviation_of
from glt.datasets import Graph
from glt.masks import EdgeMask
from glt.store import Run
from glt.verdicts import half_width

if TYPE_CHECKING:
    import pandas as pd

Published = Mapping[str, Mapping[str, float]]
Progress = Callable[[float], None]
Order = Literal["original", "pruned", "change"]

KEPT = "edges_kept_either_way"
TABLE, TREND = "A table of measurements", "A trend of measurements"
REMOVED, ONE_WAY, BOTH_WAYS = "removed", "one way", "both ways"


@dataclass(frozen=True)
class Row:
    """One row of the table of measurements: its masks, which are averaged, and their run."""

    kind: str
    label: str
    column: str
    masks: Sequence[EdgeMask]
    run: str = ""
    model: str = ""
    rounds: tuple[int, ...] = ()


def measurement_table(
    runs: Sequence[Run],
    rounds: int | Sequence[int],
    *,
    null: bool = False,
    published: Published | None = None,
    slow: bool = False,
    engine: Engine = "default",
    on_progress: Progress | None = None,
) -> pd.DataFrame:
    """Return one row for the original graph and one per run and round, all of the same data set.

    Columns: `kind` (original, run, null), `label`, `run`, `method`, `model`, `rounds` (tuple), `seeds` (number of
    averaged graphs, 0 while none is finished), then for every count and measure `x` its mean `x`, `x_spread` (standard
    deviation over seeds, NaN below two), `x_published` for the measures in `published` (measure -> original or method
    -> value, as in `analysis.published`; NaN for rounds that the paper did not measure), `x_error` (mean half-width of
    the 95 % interval) for estimated measures, and with the engine `networkx` `x_difference` (largest relative
    difference between NetworkX's value and our faster version's). `null` adds random graphs with as many edges after
    each run, five draws or one a seed; `slow` adds the measures of cost "background". `on_progress` is called with the
    fraction done.

    Raises ConfigError when the runs are of several data sets, StoreError and DataError when masks cannot be read.
    """
    import pandas as pd

    graph = shared_graph(runs, TABLE)
    rows = list(_rows(graph, runs, [rounds] if isinstance(rounds, int) else rounds, null))
    total, done = sum(len(row.masks) for row in rows), 0

    def report(share: float) -> None:
        if on_progress is not None:
            on_progress((done + share) / total)

    table = []
    for row in rows:
        found: list[Numbers] = []
        for mask in row.masks:
            found.append(measure_mask(graph, mask, slow=slow, engine=engine, on_progress=report))
            done += 1
            report(0.0)
        table.append(_values(row, found, published or {}))
    return pd.DataFrame(table)


def unmeasured(
    runs: Sequence[Run],
    rounds: Sequence[int],
    *,
    null: bool = False,
    slow: bool = False,
    engine: Engine = "default",
) -> int:
    """Return an upper bound of the graphs that `measurement_table` has to measure."""
    graph = shared_graph(runs, TABLE)
    masks = [mask for row in _rows(graph, runs, rounds, null) for mask in row.masks]
    known = (is_mask_measured(graph, mask, slow=slow, engine=engine) for mask in masks)
    return count_unmeasured(known, len(masks))


def is_as_published(row: Mapping[Any, Any]) -> bool:
    """Return whether a row is comparable with the paper: the original, or a round of the paper's sparsity."""
    return row["kind"] == "original" or measured_alike(row["model"], row["graph_sparsity"])


def _rows(graph: Graph, runs: Sequence[Run], asked: Sequence[int], null: bool) -> Iterator[Row]:
    yield Row("original", "Original", "original", [EdgeMask.full("undirected", graph.num_edges)])
    labels = run_labels(runs)
    for run in runs:
        for number in asked:
            seeds = [seed for seed in map(run.seed, run.seeds()) if number < len(seed.rounds())]
            masks = [(seed.seed, seed.edge_mask(number)) for seed in seeds]
            rounds = (number,) if seeds else ()
            label = labels[run.reference] + (f", round {number}" if len(asked) > 1 else "")
            of_run = [mask for _, mask in masks]
            yield Row("run", label, run.config.method, of_run, run.reference, run.config.model, rounds)
            if null:
                twins = random_twins(masks)
                yield Row("null", f"As many edges as {label}, at random", "null", twins, run.reference, "", rounds)


def _values(row: Row, found: Sequence[Numbers], published: Published) -> dict[str, Any]:
    values: dict[str, Any] = {
        "kind": row.kind,
        "label": row.label,
        "run": row.run,
        "method": row.column,
        "model": row.model,
        "rounds": row.rounds,
        "seeds": len(found),
    }
    for name in found[0] if found else ():
        numbers = [each[name] for each in found]
        values[name] = float(np.mean(numbers))
        values[f"{name}_spread"] = deviation_of(numbers)
        if name in found[0].errors:
            values[f"{name}_error"] = float(np.mean([each.errors[name] for each in found]))
        if name in found[0].differences:
            values[f"{name}_difference"] = max(each.differences[name] for each in found)
        if name in published:
            known = published[name].get(row.column, math.nan)
            values[f"{name}_published"] = known if is_as_published(values) else math.nan
    return values


@dataclass(frozen=True)
class _Point:
    """One finished round of a run, or its random graphs, over seeds."""

    kind: str
    run: Run
    round: int
    masks: Sequence[EdgeMask]


def trend_table(
    runs: Sequence[Run],
    name: str,
    *,
    null: bool = False,
    on_progress: Progress | None = None,
) -> pd.DataFrame:
    """Return one row per run and finished round for the measure or count `name`, all runs on one graph.

    Columns: `kind` (run, null), `run`, `label`, `method`, `color`, `round`, `kept` (undirected edges kept, mean over
    seeds), `mean`, `low` and `high` (95 % t interval, NaN below three seeds), `seeds` (averaged graphs) and `original`
    (the unpruned graph's value); for estimated measures `error` (half-width of the 95 % interval). `null` adds a row
    with as many random edges to every pruned round, five draws or one a seed. Raises ConfigError for an unknown name or
    runs on several graphs, StoreError and DataError when masks cannot be read.
    """
    import pandas as pd

    graph, labels, names = shared_graph(runs, TREND), run_labels(runs), _measures_of(name)
    full = EdgeMask.full("undirected", graph.num_edges)
    # Hundreds of graphs: our fast versions, equal to NetworkX's values to 1e-12.
    original = measure_mask(graph, full, names=names, engine="fast")[name]
    total = sum(run.seed(seed).whole_rounds() for run in runs for seed in run.seeds())
    rows, done = [], 0
    for point in _points(runs, null):
        measured = [measure_mask(graph, mask, names=names, engine="fast") for mask in point.masks]
        rows.append(_trend_row(point, labels[point.run.reference], measured, name) | {"original": original})
        done += len(point.masks) if point.kind == "run" else 0
        if on_progress is not None:
            on_progress(done / total)
    return pd.DataFrame(rows)


def unmeasured_trend(runs: Sequence[Run], name: str, *, null: bool = False) -> int:
    """Return an upper bound of the graphs that `trend_table` has to measure."""
    graph, names = shared_graph(runs, TREND), _measures_of(name)
    rounds = [run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()]
    total = sum(rounds) + (DRAWS * sum(max(count - 1, 0) for count in rounds) if null else 0)
    full = EdgeMask.full("undirected", graph.num_edges)
    if not is_mask_measured(graph, full, names=names):
        return 1 + total
    masks = (mask for point in _points(runs, null) for mask in point.masks)
    return count_unmeasured((is_mask_measured(graph, mask, names=names) for mask in masks), total)


def _measures_of(name: str) -> list[str]:
    return [] if name in COUNT_LABELS else [name]


def _points(runs: Sequence[Run], null: bool) -> Iterator[_Point]:
    for run in runs:
        seeds = [run.seed(seed) for seed in run.seeds()]
        for number in range(max((seed.whole_rounds() for seed in seeds), default=0)):
            masks = [(seed.seed, seed.edge_mask(number)) for seed in seeds if seed.whole_rounds() > number]
            yield _Point("run", run, number, [mask for _, mask in masks])
            if null and number:
                yield _Point("null", run, number, random_twins(masks))


def _trend_row(point: _Point, label: str, measured: Sequence[Numbers], name: str) -> dict[str, Any]:
    values = np.array([numbers[name] for numbers in measured], dtype=np.float64)
    half = float(half_width(deviation_of(values), values.size))
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


def node_table(graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness, order: Order) -> pd.DataFrame:
    """Return one row per node, ranked: `node`, `label`, degree, clustering, betweenness and rank in both graphs.

    Columns end in `_original` and `_pruned`; `original`, `pruned` and `change` are betweenness. Values that differ by
    less than a billionth (`TIE`) share a rank and count as unchanged. `order`: by betweenness in the original or the
    pruned graph, or by size of the change, largest first.
    """
    import pandas as pd

    # NetworkX takes a third of a second to import.
    from analysis.measures.networkx_engine import node_clustering

    whole = MeasuredGraph.of(graph)
    pruned = whole.keeping(mask.either_way())
    table = pd.DataFrame(
        {
            "node": np.arange(graph.num_nodes),
            "label": graph.labels,
            "degree_original": whole.degrees,
            "degree_pruned": pruned.degrees,
            "clustering_original": node_clustering(whole),
            "clustering_pruned": node_clustering(pruned),
            **_changes(before.nodes, after.nodes),
        }
    )
    return _ranked(table, order)


def edge_table(graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness, order: Order) -> pd.DataFrame:
    """Return one row per edge of the original graph, ranked: ends, kept directions, betweenness and both ranks.

    The pruned betweenness and the change of a removed edge are NaN.
    """
    import pandas as pd

    kept = mask.either_way()
    pruned = np.full(graph.num_edges, np.nan)
    pruned[kept] = after.edges
    survives = np.where(mask.both_ways(), BOTH_WAYS, np.where(kept, ONE_WAY, REMOVED))
    ends = {"low": graph.edges[0], "high": graph.edges[1], "survives": survives}
    return _ranked(pd.DataFrame({**ends, **_changes(before.edges, pruned)}), order)


def with_names(graph: Graph, table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `node_table` with the data set's ids and class names; no class column where none is known."""
    from analysis.subgraphs.panel import classes_of, has_classes, node_name

    ids = [node_name(graph, node) for node in table["node"].tolist()]
    if not has_classes(graph):
        return table.assign(node=ids).drop(columns="label")
    return table.assign(node=ids, label=classes_of(graph, table["node"].to_numpy())).rename(columns={"label": "class"})


def _changes(before: FloatArray, after: FloatArray) -> dict[str, FloatArray]:
    change = np.where(np.isclose(after, before, rtol=TIE, atol=0), 0.0, after - before)
    return {"original": before, "pruned": after, "change": change}


def _ranked(table: pd.DataFrame, order: Order) -> pd.DataFrame:
    ranks = {f"rank_{name}": ranks_from_the_top(table[name].to_numpy()) for name in ("original", "pruned")}
    table = table.assign(**ranks)
    values = table["change"].abs() if order == "change" else table[order]
    # By groups of ties, so that rounding does not reorder equal values; rows without a value come last.
    return table.iloc[np.argsort(-tie_groups(values.to_numpy()), kind="stable")].reset_index(drop=True)
