"""Measurements: what pruning left of the graph's shape, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd
import streamlit as st

from analysis import names, published
from analysis.measures import in_order, wording
from analysis.shared_graph import printed_measurements, training_part
from analysis.tables.caption import averaged_over
from analysis.tables.statistics import half_width
from app.widgets import controls, frame, measuring, pickers
from app.widgets.opened import opened
from glt import formats
from glt.store import Run

FIRST = ("graph_sparsity", "edges_kept_either_way", "edges_kept_both_ways", *published.MEASUREMENT_ROWS)


def page() -> None:
    """Show the page."""
    with frame.page("Measurements", "What pruning leaves of the graph's shape, ours beside the paper's."):
        found = pickers.with_rounds(opened().results)
        if not found:
            frame.empty(
                "Nothing to measure yet",
                "Measurements appear as soon as a run has finished a round.",
                "straighten",
                "launch",
                "Launch a run",
            )
            return
        runs, number, null = _controls(found)
        if not runs:
            frame.empty("No runs chosen", "Choose at least one run in the row above.", "straighten")
            return
        _table(runs, number, null)


def _controls(found: list[Run]) -> tuple[list[Run], int, bool]:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        runs = pickers.pick_runs(found, pickers.together(found))
        number = pickers.pick_any_round(runs or found)
        null = controls.switch(
            "null",
            "Random graphs of equal density",
            help="Beside each run: as many undirected edges as it kept, drawn at random from the original graph.",
        )
    return runs, number, null


def _table(runs: list[Run], number: int, null: bool) -> None:
    table = measuring.table_of(runs, number, null)
    dataset, printed = runs[0].config.dataset, printed_measurements(runs[0].config)
    others = [name for name in _names(table) if name not in FIRST]
    with st.container(key="figures-measurements"):
        read = as_read(table, [*FIRST, *others], printed)
        st.table(read, border="horizontal", hide_index=True, width="content")
    st.caption(_caption(runs, number, table))
    if printed and published.swapped(dataset):
        st.caption(f":material/swap_horiz: {published.SWAP_NOTE}")
    with st.expander("What each of them means", icon=":material/menu_book:", key="definitions"):
        st.markdown("\n".join(f"- **{measure.label}**: {measure.definition}" for measure in in_order()))


def as_read(table: pd.DataFrame, measures: Iterable[str], printed: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return one row a measure and one column a graph, as people read them; the paper's value in a row of its own."""
    graphs = table.to_dict("records")
    rows: list[list[str]] = []
    for name in measures:
        halves = half_width(table[f"{name}_spread"], table["seeds"])
        cells = [wording.interval(name, graph[name], half) for graph, half in zip(graphs, halves, strict=True)]
        rows.append([wording.label(name), *cells])
        if name in printed:
            values = [printed[name].get(graph["method"]) for graph in graphs]
            words = [formats.MISSING if value is None else f"{value:.5f}" for value in values]
            rows.append([":gray[in the paper]", *(f":gray[{word}]" for word in words)])
    return pd.DataFrame(rows, columns=["Measure", *(_heading(graph) for graph in graphs)])


def _heading(graph: Mapping[str, str]) -> str:
    return (
        f"Random, as dense as {graph['label'].split(' as ')[-1].split(',')[0]}"
        if graph["kind"] == "null"
        else graph["label"]
    )


def _names(table: pd.DataFrame) -> list[str]:
    found = [column.removesuffix("_spread") for column in table.columns if column.endswith("_spread")]
    # How many edges survive both ways belongs beside how many survive at all.
    return sorted(
        found, key=lambda name: found.index("edges") + 0.5 if name == "edges_both_ways" else found.index(name)
    )


def _caption(runs: list[Run], number: int, table: pd.DataFrame) -> str:
    config = runs[0].config
    averaged = averaged_over(int(count) for count in table.loc[table["kind"] != "original", "seeds"])
    return (
        f"{names.dataset(config.dataset)}, round {number}: {averaged}. An "
        "edge counts when it survives in at least one direction, as in the paper; NetworkX's definitions, isolated "
        f"nodes kept. {training_part(config) or published.measured_at(config.dataset)}"
    )
