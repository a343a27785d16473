"""Graph measurements with a progress bar, kept until one of their runs changes.

The command line measures a large graph in a process that can be stopped; the page reads its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import streamlit as st

from analysis.figures.trend import TrendAxis
from analysis.labels import dataset_label
from analysis.measures import descriptions, in_order
from analysis.measures.compute import Engine, networkx_seconds
from analysis.measures.connectivity import MOST_NODES_FACTORED, MOST_NODES_SOLVED
from analysis.measures.graph import MeasuredGraph
from analysis.measures.tables import is_as_published, measurement_table, trend_table, unmeasured, unmeasured_trend
from analysis.runs import shared_graph
from app.components import computation, controls
from app.components.frame import plain
from app.data import cache
from glt import formats
from glt.store import Run
from glt.verdicts import half_width

KEPT = 64
WORDS = {"measurements": "Table of", "trend": "Trend over"}
# CPU seconds per node or edge of a large graph, without and with the slow measures.
SECONDS_AN_ELEMENT, SLOW_SECONDS_AN_ELEMENT = 8e-6, 6e-5
# In addition if the Laplacian is factored: 20 to 45 seconds at 21,000 nodes with 145,000 to 270,000 edges.
FACTORED_SECONDS_AN_ELEMENT = 1.5e-4
# In addition if a slow measure solves for every node: 380 seconds at 21,000 nodes with 270,000 edges.
SOLVED_SECONDS_AN_ELEMENT = 1.3e-3
FACTORED = "algebraic_connectivity"

Advance = Callable[[float], None]
# The paper's values: measure -> original or method -> value.
Printed = Mapping[str, Mapping[str, float]]


def table_of(
    runs: Sequence[Run],
    rounds: int | Sequence[int],
    null: bool,
    printed: Printed | None = None,
    slow: bool = False,
    engine: Engine = "default",
) -> pd.DataFrame:
    """Return `measurement_table` of rounds with the `printed` values, from the cache if known."""
    numbers = (rounds,) if isinstance(rounds, int) else tuple(rounds)

    def measure(advance: Advance) -> pd.DataFrame:
        return measurement_table(
            runs, numbers, null=null, published=printed, slow=slow, engine=engine, on_progress=advance
        )

    return _kept(("table", cache.stamps(runs), numbers, null, printed is None, slow, engine), measure)


def offer_table(
    runs: Sequence[Run], rounds: Sequence[int], null: bool, slow: bool = False, engine: Engine = "default"
) -> bool:
    """Offer to measure the graphs of a table, or show progress; return True without either if `table_of` is fast.

    It is slow on large graphs and with NetworkX. Raises ConfigError for runs on several graphs.
    """
    key = ("table", cache.stamps(runs), tuple(rounds), null, slow, engine)
    if key in _ready() or not (is_large(runs) or engine == "networkx"):
        return True
    lacking = unmeasured(runs, rounds, null=null, slow=slow, engine=engine)
    numbers = [part for number in rounds for part in ("--round", str(number))]
    options = [*numbers, *(["--null"] if null else []), *(["--all"] if slow else []), "--engine", engine]
    return _offer(key, runs, "measurements", options, lacking, lacking * _seconds_a_graph(runs, slow, engine))


def _seconds_a_graph(runs: Sequence[Run], slow: bool, engine: Engine) -> float:
    graph = MeasuredGraph.of(shared_graph(runs, "Measuring"))
    if engine == "networkx":
        return networkx_seconds(graph, slow)
    pace = (SLOW_SECONDS_AN_ELEMENT if slow else SECONDS_AN_ELEMENT) + _factoring(runs, slow)
    return pace * (graph.num_nodes + graph.num_edges)


def offer_trend(runs: Sequence[Run], name: str, null: bool) -> bool:
    """Offer to measure the graphs of a trend, or show progress; return True without either if `trend_of` is fast."""
    key = ("trend", cache.stamps(runs), name, null)
    if key in _ready() or not is_large(runs):
        return True
    lacking = unmeasured_trend(runs, name, null=null)
    options = ["--measure", name, *(["--null"] if null else [])]
    pace = SECONDS_AN_ELEMENT / 2 + (_factoring(runs) if name == FACTORED else 0.0)
    graph = MeasuredGraph.of(shared_graph(runs, "Measuring"))
    return _offer(key, runs, "trend", options, lacking, lacking * pace * (graph.num_nodes + graph.num_edges))


def _factoring(runs: Sequence[Run], slow: bool = False) -> float:
    """Return the CPU seconds per node or edge of factoring the Laplacian, 0 without."""
    nodes = shared_graph(runs, "Measuring").num_nodes
    solving = SOLVED_SECONDS_AN_ELEMENT if slow and nodes <= MOST_NODES_SOLVED else 0.0
    return solving + (FACTORED_SECONDS_AN_ELEMENT if nodes <= MOST_NODES_FACTORED else 0.0)


def _offer(key: object, runs: Sequence[Run], table: str, options: Sequence[str], lacking: int, seconds: float) -> bool:
    if not lacking:
        _ready().add(key)
        return True
    paths = [str(run.path) for run in runs]
    arguments = ["analysis", "table", table, *paths, *options, "--format", "json", "--progress"]
    computation.panel(repr(key), arguments, f"{WORDS[table]} {formats.number_of(lacking, 'graph')}", seconds)
    return False


def is_large(runs: Sequence[Run]) -> bool:
    """Return whether the graph of these runs is large; raises ConfigError, DataError."""
    return MeasuredGraph.of(shared_graph(runs, "Measuring")).is_large


@st.cache_resource(show_spinner=False)
def _ready() -> set[object]:
    return set()


def trend_of(runs: Sequence[Run], name: str, null: bool) -> pd.DataFrame:
    """Return `trend_table` of a measure, from the cache if known."""

    def measure(advance: Advance) -> pd.DataFrame:
        return trend_table(runs, name, null=null, on_progress=advance)

    return _kept(("trend", cache.stamps(runs), name, null), measure)


def _kept(key: object, measure: Callable[[Advance], pd.DataFrame]) -> pd.DataFrame:
    known = _known()
    if key not in known:
        bar = st.progress(0.0, "Measuring")

        def advance(share: float) -> None:
            bar.progress(share, "Measuring")

        try:
            known[key] = measure(advance)
        finally:
            bar.empty()
        for old in list(known)[:-KEPT]:
            known.pop(old, None)
    return known[key]


@st.cache_resource(show_spinner=False)
def _known() -> dict[object, pd.DataFrame]:
    return {}


HEADLINE = (
    "entries_kept",
    "edges_kept_either_way",
    "edges_kept_both_ways",
    "isolated_nodes",
    "largest_component_share",
    "reach",
    "average_path_length",
    "average_clustering",
    "edge_homophily",
    "pagerank_spearman",
)
TAKEN = ("Measure", "Original")


def words_table(
    table: pd.DataFrame, measures: Iterable[str], printed: Printed, as_printed: Printed | None = None, dataset: str = ""
) -> pd.DataFrame:
    """Return one row per measure and one column per graph, in words.

    Rows below show the paper's values: `printed` are those of this graph, `as_printed` those under the name of
    `dataset`.
    """
    graphs = table.to_dict("records")
    rows: list[list[str]] = []
    for name in measures:
        halves = half_width(table[f"{name}_spread"], table["seeds"])
        if f"{name}_error" in table:
            halves = np.hypot(np.nan_to_num(halves), table[f"{name}_error"])
        cells = [descriptions.interval(name, graph[name], half) for graph, half in zip(graphs, halves, strict=True)]
        # Lines break only before the interval.
        unbroken = [cell.replace(" ", formats.NO_BREAK).replace(f"{formats.NO_BREAK}±", " ±") for cell in cells]
        rows.append([descriptions.label(name), *unbroken])
        if name in printed:
            rows.append(_gray("paper", printed[name], graphs))
        if as_printed and name in as_printed:
            rows.append(_gray(f"paper, column {dataset_label(dataset)}", as_printed[name], graphs))
    return pd.DataFrame(rows, columns=["Measure", *(_heading(graph) for graph in graphs)])


def _gray(words: str, values: Mapping[str, float], graphs: Sequence[Mapping[Any, Any]]) -> list[str]:
    published_values = [values.get(graph["method"]) if is_as_published(graph) else None for graph in graphs]
    cells = [formats.MISSING if value is None else formats.fixed(value, 5) for value in published_values]
    return [f":gray[{cell}]" for cell in (words, *cells)]


def _heading(graph: Mapping[Any, Any]) -> str:
    if graph["kind"] != "null":
        # Column names must be unique, and a run may have any title.
        taken = graph["kind"] == "run" and graph["label"] in TAKEN
        return plain(graph["label"]) + (" (run)" if taken else "")
    whose = graph["label"].removeprefix("As many edges as ").removesuffix(", at random")
    return f"Random, as dense as {plain(whose)}"


def names(table: pd.DataFrame) -> list[str]:
    """Return the measures of a `measurement_table`, in order."""
    names = [column.removesuffix("_spread") for column in table.columns if column.endswith("_spread")]
    # Edges kept both ways directly follow edges kept either way.
    return sorted(
        names, key=lambda name: names.index("edges") + 0.5 if name == "edges_both_ways" else names.index(name)
    )


FIRST_MEASURE = "average_clustering"
AXES = {"round": "Round", "kept": "Edges kept"}
COUNTS = ("entries_kept", "edges_kept_either_way", "edges_kept_both_ways")


@dataclass(frozen=True)
class Trend:
    """The chosen measure and horizontal axis."""

    name: str
    x: TrendAxis


def pick_trend() -> Trend:
    """Choose the measure and the axis."""
    options = {name: descriptions.label(name) for name in COUNTS}
    options |= {measure.name: measure.label for measure in in_order() if measure.cost != "background"}
    name = controls.select("measure", "Measure", options, FIRST_MEASURE, width=270)
    return Trend(name, cast("TrendAxis", controls.segments("over", "Horizontal axis", AXES)))
