"""Measurements: graph structure after pruning, as tables and curves. Begin at `page`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import published
from analysis.drawing.description import Description
from analysis.figures.trend import trend_curves
from analysis.labels import dataset_label
from analysis.measures import descriptions, in_order
from analysis.measures.compute import Engine
from analysis.measures.descriptions import explanation, explanations
from analysis.measures.graph import MeasuredGraph
from analysis.runs import by_graph, printed_measurements, shared_graph, training_part
from analysis.tables.captions import averaged_over
from app.components import controls, downloads, frame, measurement, run_select, url_state
from app.components.downloads import drawn, show_figure, show_number_table, show_text_table
from app.components.frame import plain
from app.views import elements, predictions
from glt import formats
from glt.errors import StudioError
from glt.store import Run

VIEWS = {"table": "Table", "trend": "Over rounds", "elements": "Per node and edge", "predictions": "Predictions"}
ENGINES: dict[Engine, str] = {"default": "Default", "networkx": "NetworkX"}
ABOUT_ENGINE = (
    "Default: NetworkX for clustering, components and degrees on graphs up to the size of PubMed, faster libraries "
    "with NetworkX's definitions for the rest. NetworkX: everything by NetworkX, with the largest difference."
)


def page() -> None:
    """Show the page."""
    with frame.page("Measurements", "Graph structure and predictions after pruning."):
        finished = run_select.finished_runs(
            "runs",
            "Nothing to measure yet",
            "Measurements appear as soon as a run has finished a round.",
            "straighten",
        )
        if not finished:
            return

        def turn() -> None:
            """On a change to the view of one run, choose the first of the chosen runs."""
            chosen = url_state.recall("runs")
            first = next((run.reference for run in finished if run.reference in chosen), None)
            if st.session_state["view"] == "elements" and first is not None:
                # Reading it first prevents the address from overriding the choice.
                url_state.start("run")
                st.session_state["run"] = first

        view = controls.segments("view", "View", VIEWS, label_visibility="collapsed", on_change=turn)
        if view == "elements":
            elements.show_elements(finished)
        elif view == "predictions":
            predictions.show_predictions(finished)
        else:
            _of_several(finished, view)


def _of_several(finished: list[Run], view: str) -> None:
    with frame.row("controls"):
        runs = run_select.pick_runs(finished, run_select.together(finished))
        chosen = pick_rounds(runs or finished) if view == "table" else measurement.pick_trend()
        engine: Engine = "default"
        if view == "table":
            words = cast("dict[str, str]", ENGINES)
            engine = cast("Engine", controls.segments("engine", "Engine", words, help=ABOUT_ENGINE))
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

WHERE = "They are shown for the original graph and for GCN rounds within a point of that sparsity."
SLOW = "Slow measures"


def pick_rounds(runs: Sequence[Run]) -> list[int]:
    """Choose a round, and other rounds to show beside it."""
    finished = max(run.seed(seed).whole_rounds() for run in runs for seed in run.seeds())
    number = run_select.pick_round(finished)
    if finished < 2:
        return [number]
    options = {str(other): str(other) for other in range(finished)}
    kept = st.session_state.get("also") or []
    with st.popover(f"Other rounds · {len(kept)}" if kept else "Other rounds", key="pick-rounds"):
        also = controls.several("also", "Other rounds", options, [], width=320)
    return sorted({number, *map(int, also)})


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
        st.markdown(
            "\n".join(
                f"- **{measure.label}**: {plain(measure.definition)}  \n  Reading: {plain(measure.reading)}  \n  "
                f":gray[{measure.cost} {measure.engine}]"
                for measure in explanations()
            )
        )


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
        return measurement.offer_table(self.runs, self.rounds, self.null, slow, self.engine)

    @property
    def dataset(self) -> str:
        """Name of its data set."""
        return self.runs[0].config.dataset

    @property
    def printed(self) -> measurement.Printed:
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
    show_text_table(f"measurements-{graph.name}", measurement.words_table(graph.table(), measurement.HEADLINE, {}))
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
    read = measurement.words_table(graph.table(), published.MEASUREMENT_ROWS, graph.printed, as_printed, dataset)
    show_text_table(f"paper-table-{graph.name}", read)
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
            table, shown = graph.table(slow), {*measurement.HEADLINE, *graph.printed}
            others = [name for name in measurement.names(table) if name not in shown]
            show_text_table(f"others-{graph.name}", measurement.words_table(table, others, {}))
    return slow


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
        if not measurement.offer_trend(chosen, trend.name, null):
            continue
        if len(graphs) > 1:
            st.subheader(frame.plain(name), anchor=False)
        key = f"-{name}" if len(graphs) > 1 else ""
        show_figure(_trend_figure(chosen, trend, null), f"trend{key}", f"{descriptions.label(trend.name)} over rounds")
        table = measurement.trend_of(chosen, trend.name, null)
        frame.caption(*_trend_caption(chosen, trend, table))
        with st.expander("Numbers", icon=":material/table_rows:", key=f"trend-numbers{key}"):
            show_number_table(trend_numbers(table, trend.name), height=320)


@drawn()
def _trend_figure(runs: list[Run], trend: measurement.Trend, null: bool) -> Description:
    return trend_curves(measurement.trend_of(runs, trend.name, null), trend.name, trend.x)


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
