"""Measurements: graph structure after pruning, as tables and curves. Begin at `page`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import published
from analysis.drawing import screen
from analysis.figures.degrees import Degrees, degree_curves
from analysis.figures.trend import trend_curves
from analysis.labels import dataset_label, short_title
from analysis.measures import descriptions
from analysis.measures.basic import degree_counts, degree_gini
from analysis.measures.cache import known_betweenness
from analysis.measures.centrality import SAMPLE, Betweenness, spearman
from analysis.measures.compute import Engine, betweenness_seconds
from analysis.measures.descriptions import Explanation, explanation, explanations
from analysis.measures.graph import MeasuredGraph, random_twins
from analysis.measures.registry import in_order
from analysis.measures.tables import Order, edge_table, is_as_published, node_table, with_names
from analysis.runs import by_graph, printed_measurements, shared_graph, training_part
from analysis.style import palette
from analysis.subgraphs.panel import node_name
from analysis.tables.captions import averaged_over
from app.components import computation, controls, downloads, frame, graph_select, measurement, run_select, url_state
from app.components.downloads import draw_numbers, draw_table, show_figure, show_table
from app.components.frame import plain
from app.data import cache
from glt import formats
from glt.datasets import Graph
from glt.errors import StudioError
from glt.lottery.graph import graph_of
from glt.masks import EdgeMask
from glt.store import Run
from glt.verdicts import half_width

VIEWS = {"table": "Table", "trend": "Over rounds", "elements": "Per node and edge"}


def page() -> None:
    """Show the page."""
    with frame.page("Measurements", "Graph structure after pruning."):
        finished = run_select.finished_runs(
            "runs",
            "Nothing to measure yet",
            "Measurements appear as soon as a run has finished a round.",
            "straighten",
        )
        if not finished:
            return
        turned = partial(_turn, finished)
        view = controls.segments("view", "View", VIEWS, label_visibility="collapsed", on_change=turned)
        if view == "elements":
            show_elements(finished)
        else:
            _of_several(finished, view)


def _turn(finished: list[Run]) -> None:
    """On a change to the view of one run, choose the first of the chosen runs."""
    chosen = url_state.recall("runs")
    first = next((run.reference for run in finished if run.reference in chosen), None)
    if st.session_state["view"] == "elements" and first is not None:
        # Reading it first prevents the address from overriding the choice.
        url_state.start("run")
        st.session_state["run"] = first


def _of_several(finished: list[Run], view: str) -> None:
    with frame.row("controls"):
        runs = run_select.pick_runs(finished, run_select.together(finished))
        chosen = pick_rounds(runs or finished) if view == "table" else measurement.pick_trend()
        engine = pick_engine() if view == "table" else "default"
        null = controls.switch(
            "null",
            "Random graphs of equal density",
            help="For each run: as many undirected edges as it kept, drawn at random from the original graph.",
        )
    if not (runs := run_select.chosen_runs(runs, "straighten")):
        return
    if isinstance(chosen, measurement.Trend):
        show_trend(runs, chosen, null)
    else:
        show_tables(runs, chosen, null, engine)


# Table

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
WHERE = "They are shown for the original graph and for GCN rounds within a point of that sparsity."
SLOW = "Slow measures"
TAKEN = ("Measure", "Original")
ENGINES: dict[Engine, str] = {"default": "Default", "networkx": "NetworkX"}
Printed = Mapping[str, Mapping[str, float]]


def pick_rounds(runs: Sequence[Run]) -> list[int]:
    """Choose a round, and other rounds to show beside it."""
    number = run_select.pick_any_round(runs)
    last = max(run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()) - 1
    if last < 1:
        return [number]
    options = {str(other): str(other) for other in range(last + 1)}
    kept = st.session_state.get("also") or []
    with st.popover(f"Other rounds · {len(kept)}" if kept else "Other rounds", key="pick-rounds"):
        also = controls.several("also", "Other rounds", options, [], width=320)
    return sorted({number, *map(int, also)})


def pick_engine() -> Engine:
    """Choose the engine of the table."""
    about = (
        "Default: NetworkX for clustering, components and degrees on graphs up to the size of PubMed, faster libraries "
        "with NetworkX's definitions for the rest. NetworkX: everything by NetworkX, with the largest difference."
    )
    return cast("Engine", controls.segments("engine", "Engine", cast("dict[str, str]", ENGINES), help=about))


def show_tables(runs: list[Run], rounds: Sequence[int], null: bool, engine: Engine) -> None:
    """Show the tables of every graph of these runs, or the progress of measuring."""
    graphs = [Measured(name, tuple(chosen), rounds, null, engine) for name, chosen in by_graph(runs).items()]
    alone = len(graphs) == 1
    graphs = [graph for graph in graphs if (graph.is_ready() if alone else _is_measured(graph))]
    places = [_first(graph, len(graphs) > 1) for graph in graphs]
    slow = _others(graphs)
    for graph, place in zip(graphs, places, strict=True):
        with place:
            _take_away(graph, slow)
    with st.expander("Definitions", icon=":material/menu_book:", key="definitions"):
        st.markdown("\n".join(map(_definition, explanations())))


def _definition(measure: Explanation) -> str:
    definition, reading = frame.plain(measure.definition), frame.plain(measure.reading)
    return f"- **{measure.label}**: {definition}  \n  Reading: {reading}  \n  :gray[{measure.cost} {measure.engine}]"


@dataclass(frozen=True)
class Measured:
    """One graph of the page: the runs on it, their rounds, with random graphs or without."""

    name: str
    runs: tuple[Run, ...]
    rounds: Sequence[int]
    null: bool
    engine: Engine

    def table(self, slow: bool = False) -> pd.DataFrame:
        """Return the measurements, from the cache if known."""
        return measurement.table_of(self.runs, self.rounds, self.null, self.printed, slow, self.engine)

    def is_ready(self, slow: bool = False) -> bool:
        """Return whether the table is quick now; else offer to measure or show progress."""
        return measurement.is_table_ready(self.runs, self.rounds, self.null, slow, self.engine)

    @property
    def dataset(self) -> str:
        """Name of its data set."""
        return self.runs[0].config.dataset

    @property
    def printed(self) -> Printed:
        """The paper's values of this graph."""
        return printed_measurements(self.runs[0].config)


def _is_measured(graph: Measured) -> bool:
    """Measure one of several graphs; a failure is shown and the graph left out."""
    try:
        if not graph.is_ready():
            return False
        graph.table()
    except StudioError as error:
        frame.failure(f"{graph.name}: {error}")
        return False
    return True


def _first(graph: Measured, is_named: bool) -> DeltaGenerator:
    """Show the first table of a graph; return the container of its downloads."""
    if is_named:
        st.subheader(frame.plain(graph.name), anchor=False)
    draw_table(f"measurements-{graph.name}", as_read(graph.table(), HEADLINE, {}))
    frame.caption(*_table_caption(graph))
    if graph.printed:
        _papers(graph)
    return frame.row(f"downloads-{graph.name}", "center")


def _take_away(graph: Measured, slow: bool) -> None:
    table, name = graph.table(slow), re.sub(r"[^a-z0-9]+", "-", graph.name.lower()).strip("-")
    note = training_part(graph.runs[0].config)

    def latex() -> bytes:
        # Imported late: loads matplotlib.
        from analysis.latex import measurements_latex

        return measurements_latex(table, graph.dataset, note=note).encode()

    downloads.csv_button(table, f"{name}-measurements.csv")
    downloads.file_button("LaTeX", f"{name}-measurements.tex", "application/x-tex", latex)
    runs = [run.reference for run in graph.runs]
    url_state.link(
        "export", "Export", ":material/file_save:", what="measurements", runs=runs, round=str(graph.rounds[0])
    )


def _papers(graph: Measured) -> None:
    dataset = graph.dataset
    st.markdown(f"**Values in the paper** :gray[{published.MEASUREMENT_TABLE.split(' (')[0]}]")
    as_printed = published.measurements(dataset, as_printed=True) if published.swapped(dataset) else {}
    read = as_read(graph.table(), published.MEASUREMENT_ROWS, graph.printed, as_printed, dataset)
    draw_table(f"paper-table-{graph.name}", read)
    notes = [WHERE, *([published.SWAP_NOTE] if as_printed else [])]
    frame.caption(published.measured_at(dataset), " ".join(notes))


def _others(graphs: Sequence[Measured]) -> bool:
    """Show the other measures of every graph; return whether slow ones are included."""
    waiting = [formats.inside(measure.label) for measure in in_order() if measure.cost == "background"]
    with st.expander("All other measures", icon=":material/more_horiz:", key="other-measures"):
        about = f"Seconds on Cora, a minute or more per graph on PubMed: {', '.join(waiting)}."
        slow = controls.switch("slow", SLOW, help=about)
        for graph in graphs:
            if len(graphs) > 1:
                st.markdown(f"**{frame.plain(graph.name)}**")
            if slow and not graph.is_ready(slow):
                slow = False
            table, shown = graph.table(slow), {*HEADLINE, *graph.printed}
            draw_table(
                f"others-{graph.name}", as_read(table, [name for name in _names(table) if name not in shown], {})
            )
    return slow


def as_read(
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
        rows.append([descriptions.label(name), *map(_unbroken, cells)])
        if name in printed:
            rows.append(_gray("paper", printed[name], graphs))
        if as_printed and name in as_printed:
            rows.append(_gray(f"paper, column {dataset_label(dataset)}", as_printed[name], graphs))
    return pd.DataFrame(rows, columns=["Measure", *(_heading(graph) for graph in graphs)])


def _unbroken(cell: str) -> str:
    """Allow line breaks only before the interval."""
    return cell.replace(" ", "\N{NO-BREAK SPACE}").replace("\N{NO-BREAK SPACE}±", " ±")


def _gray(words: str, values: Mapping[str, float], graphs: Sequence[Mapping[Any, Any]]) -> list[str]:
    published_values = [values.get(graph["method"]) if is_as_published(graph) else None for graph in graphs]
    cells = [formats.MISSING if value is None else formats.fixed(value, 5) for value in published_values]
    return [f":gray[{cell}]" for cell in (words, *cells)]


def _heading(graph: Mapping[Any, Any]) -> str:
    if graph["kind"] != "null":
        # Column names must be unique, and a run may have any title.
        taken = graph["kind"] == "run" and graph["label"] in TAKEN
        return frame.plain(graph["label"]) + (" (run)" if taken else "")
    whose = graph["label"].removeprefix("As many edges as ").removesuffix(", at random")
    return f"Random, as dense as {frame.plain(whose)}"


def _names(table: pd.DataFrame) -> list[str]:
    names = [column.removesuffix("_spread") for column in table.columns if column.endswith("_spread")]
    # Edges kept both ways directly follow edges kept either way.
    return sorted(
        names, key=lambda name: names.index("edges") + 0.5 if name == "edges_both_ways" else names.index(name)
    )


def _table_caption(graph: Measured) -> tuple[str, str]:
    config, rounds, table = graph.runs[0].config, graph.rounds, graph.table()
    averaged = averaged_over(int(count) for count in table.loc[table["kind"] == "run", "seeds"])
    drawn = table.loc[table["kind"] == "null", "seeds"]
    null = f" Random graphs: {averaged_over(int(n) for n in drawn).replace('seeds', 'draws')}." if len(drawn) else ""
    estimated = [column.removesuffix("_error") for column in table.columns if column.endswith("_error")]
    sampled = f" {descriptions.estimated(estimated)}" if estimated else ""
    which = f"round {rounds[0]}" if len(rounds) == 1 else f"rounds {', '.join(map(str, rounds))}"
    return (
        f"{dataset_label(config.dataset)}, {which}: {averaged}.{null}",
        "An edge counts if at least one direction survives, as in the paper. Isolated nodes are kept. "
        f"{_engine_words(graph)}{sampled} {training_part(config)}",
    )


def _engine_words(graph: Measured) -> str:
    """Return the engine of a table in words; for NetworkX with the largest difference."""
    # NetworkX takes a third of a second to import, so not at the start of the app.
    from analysis.measures.networkx_engine import is_quick

    table = graph.table()
    names = [column.removesuffix("_difference") for column in table.columns if column.endswith("_difference")]
    if not names:
        quick = is_quick("average_clustering", MeasuredGraph.of(shared_graph(graph.runs, "Measuring")))
        by_networkx = "Clustering, components and degrees by NetworkX, the rest by" if quick else "Computed by"
        return f"{by_networkx} faster libraries with NetworkX's definitions."
    largest = {name: float(table[f"{name}_difference"].max()) for name in names}
    return f"Computed by NetworkX. {descriptions.largest_difference(largest)}"


# Over rounds


def show_trend(runs: list[Run], trend: measurement.Trend, null: bool) -> None:
    """Draw the trend on every graph of these runs, or the progress of measuring."""
    graphs = by_graph(runs)
    for name, chosen in graphs.items():
        if not measurement.is_trend_ready(chosen, trend.name, null):
            continue
        if len(graphs) > 1:
            st.subheader(frame.plain(name), anchor=False)
        _one_graph(chosen, trend, null, f"-{name}" if len(graphs) > 1 else "")


def _one_graph(runs: list[Run], trend: measurement.Trend, null: bool, key: str) -> None:
    table = measurement.trend_of(runs, trend.name, null)
    figure = _trend_figure(runs, trend, null, frame.is_dark())
    show_figure(figure, f"trend{key}", f"{descriptions.label(trend.name)} over rounds")
    frame.caption(*_trend_caption(runs, trend, table))
    with st.expander("Numbers", icon=":material/table_rows:", key=f"trend-numbers{key}"):
        show_table(trend_numbers(table, trend.name), height=320)


@cache.cached(32, shared=True)
def _trend_figure(runs: list[Run], trend: measurement.Trend, null: bool, dark: bool) -> go.Figure:
    table = measurement.trend_of(runs, trend.name, null)
    return screen.draw(trend_curves(table, trend.name, trend.x), dark)


def trend_numbers(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `trend_table` with the page's column names, shares in percent."""
    scale = 100.0 if descriptions.is_share(name) else 1.0
    unit = " (%)" if descriptions.is_share(name) else ""
    graphs = [
        f"Random, as dense as {label}" if kind == "null" else label
        for kind, label in zip(table["kind"], table["label"], strict=True)
    ]
    return pd.DataFrame(
        {
            "Graph": graphs,
            "Round": table["round"],
            "Edges kept, either way (%)": [formats.rounded(100 * kept, 1) for kept in table["kept"]],
            descriptions.label(name) + unit: scale * table["mean"],
            "95% interval, ±": scale * (table["high"] - table["mean"]),
            "Seeds": table["seeds"],
        }
    )


def _trend_caption(runs: list[Run], trend: measurement.Trend, table: pd.DataFrame) -> tuple[str, str]:
    pruned = table[table["kind"] == "run"]
    where = dataset_label(runs[0].config.dataset)
    about = f"{where}, rounds 0 to {pruned['round'].max()}: {averaged_over(pruned['seeds'])}. Dashed: original graph."
    parts = [frame.plain(explanation(trend.name).definition)]
    if (table["kind"] == "null").any():
        parts.insert(
            0, "Dotted: as many undirected edges as each run kept, drawn at random (five draws or one per seed)."
        )
    if "error" in table:
        parts.insert(-1, descriptions.estimated([trend.name]))
    return about, " ".join(parts)


# Per node and edge

ELEMENTS = {"nodes": "Nodes", "edges": "Edges", "degrees": "Degrees"}
PRECISION = {"exact": "Exact", "sampled": "Sampled", "networkx": "NetworkX"}
PRECISION_HELP = (
    "Exact and Sampled: computed by igraph, with NetworkX's normalisation. NetworkX: exact, computed by NetworkX."
)
ORDERS: dict[Order, str] = {"original": "Original", "pruned": "Pruned", "change": "Change"}
ORIGINAL, PRUNED, CHANGE = "Betweenness, original", "Betweenness, pruned", "Change in betweenness"
ENDS = {"nodes": ["node"], "edges": ["low", "high"]}
SHOWN = 1000


@dataclass(frozen=True)
class Choice:
    """One round of a seed; which elements are ranked, by what, and how exactly."""

    run: Run
    seed: int
    round: int
    elements: str
    order: Order
    sample: int | None
    by_networkx: bool = False

    @property
    def place(self) -> str:
        """Key of this table."""
        how = "networkx" if self.by_networkx else self.sample
        return f"{self.run.reference} {self.seed} {self.round} {self.elements} {self.order} {how}"


def show_elements(finished: list[Run]) -> None:
    """Show the ranked table, or offer to compute it."""
    choice = _choose(finished)
    graph = graph_of(choice.run.seed(choice.seed))
    mask = cache.edge_mask(choice.run, choice.seed, choice.round)
    whole = MeasuredGraph.of(graph)
    if choice.elements == "degrees":
        show_degrees(choice.run, choice.seed, choice.round, whole, mask)
        return
    pruned = whole.keeping(mask.either_way())
    before, after = (known_betweenness(part, choice.sample, choice.by_networkx) for part in (whole, pruned))
    if before is None or after is None:
        left = [part for part, known in ((whole, before), (pruned, after)) if known is None]
        _compute(choice, pruned, sum(betweenness_seconds(part, choice.sample, choice.by_networkx) for part in left))
        return
    _ranking(choice, graph, mask, before, after)


def _choose(finished: list[Run]) -> Choice:
    with frame.row("controls"):
        run = run_select.pick_run(finished, run_select.together(finished)[0])
        seed = run_select.pick_seed(run)
        number = run_select.pick_round([run.seed(seed)])
        elements = controls.segments("elements", "Elements", ELEMENTS)
        if elements == "degrees":
            return Choice(run, seed, number, elements, "original", None)
        order = cast("Order", controls.segments("rank", "Rank by betweenness", cast("dict[str, str]", ORDERS)))
        precision = controls.segments("precision", "Shortest paths", PRECISION, help=PRECISION_HELP)
    sample = SAMPLE if precision == "sampled" else None
    return Choice(run, seed, number, elements, order, sample, precision == "networkx")


def _compute(choice: Choice, pruned: MeasuredGraph, duration: float) -> None:
    place = [str(choice.run.path), "--round", str(choice.round), "--seed", str(choice.seed)]
    sample = [] if choice.sample is None else ["--sample", str(choice.sample)]
    engine = ["--engine", "networkx"] if choice.by_networkx else []
    arguments = ["analysis", "betweenness", *place, *sample, *engine, "--progress"]
    what = f"Betweenness in round {choice.round} of seed {choice.seed}"
    computation.panel(
        f"betweenness {pruned.content_hash} {choice.sample} {choice.by_networkx}", arguments, what, duration
    )


def _ranking(choice: Choice, graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness) -> None:
    make = node_table if choice.elements == "nodes" else edge_table
    table = make(graph, mask, before, after, choice.order)
    shown = table.head(SHOWN)
    read = nodes_as_read(graph, shown) if choice.elements == "nodes" else edges_as_read(graph, shown)
    st.caption(":material/ads_click: Select a row to open it in Subgraphs.")
    event = show_table(
        read,
        _columns(),
        # Streamlit keeps a selection by row number, so other rows need another key.
        placeholder=formats.MISSING,
        key=f"elements-table {choice.place}",
        height=560,
        on_select="rerun",
        selection_mode="single-row",
    )
    for place in cast(Any, event).selection.rows:
        _lead(choice, graph, shown.iloc[place])
    frame.caption(*_caption(choice, graph, mask, before, after))


def _columns() -> dict[str, Any]:
    values = st.column_config.NumberColumn(format="%.6f")
    clustering = st.column_config.NumberColumn(format="%.3f")
    columns = {"Clustering, original": clustering, "Clustering, pruned": clustering}
    return {**columns, ORIGINAL: values, PRUNED: values, CHANGE: st.column_config.NumberColumn(format="%+.6f")}


def _lead(choice: Choice, graph: Graph, row: pd.Series) -> None:
    """Show a link to the node or edge of a row in Subgraphs."""
    ends = [node_name(graph, int(row[name])) for name in ENDS[choice.elements]]
    label = f"{'Node' if len(ends) == 1 else 'Edge'} {' to '.join(ends)} in Subgraphs"
    url_state.link("subgraphs", plain(label), ":material/hub:", **destination(choice, graph, row))


def destination(choice: Choice, graph: Graph, row: pd.Series) -> dict[str, str]:
    """Return the view of Subgraphs for a row of `node_table` or `edge_table`."""
    at, *to = (int(row[name]) for name in ENDS[choice.elements])
    view = {"run": choice.run.reference, "seed": str(choice.seed), "round": str(choice.round), "section": "why"}
    name = node_name(graph, at)
    return view | {"sample": "ego", "node": name, "at": name, "to": str(to[0]) if to else graph_select.ALL_NEIGHBOURS}


def nodes_as_read(graph: Graph, table: pd.DataFrame) -> pd.DataFrame:
    """Return `node_table` with the page's column names."""
    called = with_names(graph, table)
    return pd.DataFrame(
        {
            "Node": called["node"],
            **({"Class": called["class"]} if "class" in called else {}),
            "Neighbours": table["degree_original"],
            "Left": table["degree_pruned"],
            "Clustering, original": table["clustering_original"],
            "Clustering, pruned": table["clustering_pruned"],
            **_values(table),
        }
    )


def edges_as_read(graph: Graph, table: pd.DataFrame) -> pd.DataFrame:
    """Return `edge_table` with the page's column names."""
    pairs = zip(table["low"].tolist(), table["high"].tolist(), strict=True)
    ends = [f"{node_name(graph, low)}, {node_name(graph, high)}" for low, high in pairs]
    return pd.DataFrame({"Edge": ends, "Survives": table["survives"], **_values(table)})


def _values(table: pd.DataFrame) -> dict[str, pd.Series]:
    return {
        ORIGINAL: table["original"],
        PRUNED: table["pruned"],
        CHANGE: table["change"],
        "Rank, original": table["rank_original"].astype("Int64"),
        "Rank, pruned": table["rank_pruned"].astype("Int64"),
    }


def _caption(choice: Choice, graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness) -> tuple[str, str]:
    if choice.elements == "nodes":
        kept, total = spearman(before.nodes, after.nodes), graph.num_nodes
    else:
        kept, total = spearman(before.edges[mask.either_way()], after.edges), graph.num_edges
    part = f"the first {formats.count(SHOWN)} of" if total > SHOWN else "all"
    which = "of all nodes" if choice.elements == "nodes" else "of the surviving edges"
    return (
        f"{dataset_label(graph.name)}, round {choice.round}, seed {choice.seed}: {part} {formats.count(total)} "
        f"{choice.elements}. Rank correlation {which} (Spearman): {formats.signed_text(kept, 3)}.",
        f"{before.precision_words()} An edge counts if at least one direction survives. Betweenness is the share of "
        "shortest paths between other nodes that pass through a node or an edge, with NetworkX's normalisation.",
    )


def show_degrees(run: Run, seed: int, number: int, whole: MeasuredGraph, mask: EdgeMask) -> None:
    """Draw the degree distributions; the caption has their Gini coefficients."""
    method = run.config.method
    pruned, twin = (whole.keeping(kept.either_way()) for kept in (mask, random_twins([(seed, mask)], 1)[0]))
    described = degree_curves(
        [
            Degrees("Original", palette.DENSE, degree_counts(whole)),
            Degrees(short_title(run), method, degree_counts(pruned), color=run.annotation.color),
            Degrees("random, as dense", method, degree_counts(twin), "dot", run.annotation.color),
        ]
    )
    title = f"Share of nodes with at least k neighbours, round {number}"
    figure = screen.draw(described, frame.is_dark())
    show_figure(figure, "degrees", title)
    ginis = ", ".join(formats.fixed(degree_gini(graph), 3) for graph in (whole, pruned, twin))
    frame.caption(
        f"{dataset_label(run.config.dataset)}, round {number}, seed {seed}. Gini of degrees, in legend order: {ginis}.",
        "Share of nodes with at least k neighbours. Nodes missing at k = 1 are isolated. Dotted: one random draw of as "
        "many undirected edges as the round kept.",
    )
    draw_numbers(figure, "degrees", title)
