"""Measurements: what pruning left of the graph's shape, ours beside the paper's."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app.widgets import address, controls, element_table, frame, measured_table, measured_trend, pickers
from app.widgets.opened import opened
from app.widgets.readable import readable
from glt.store import Run

VIEWS = {"table": "Table", "trend": "Over rounds", "elements": "Per node and edge"}

as_read = measured_table.as_read


def page() -> None:
    """Show the page."""
    with frame.page("Measurements", "What pruning leaves of the graph's shape, ours beside the paper's."):
        found = pickers.with_rounds(opened().runs)
        if not found:
            pickers.tell_none_left("runs")
            frame.empty(
                "Nothing to measure yet",
                "Measurements appear as soon as a run has finished a round.",
                "straighten",
                "launch",
                "Launch a run",
            )
            return
        turned = partial(_turn, found)
        view = controls.segments("view", "View", VIEWS, label_visibility="collapsed", on_change=turned)
        if view == "elements":
            element_table.show(found)
        else:
            _of_several(found, view)


def _turn(found: list[Run]) -> None:
    """On turning from several runs to the nodes and edges of one, take the first of those that were chosen."""
    chosen = address.recall("runs")
    first = next((run.reference for run in found if run.reference in chosen), None)
    if st.session_state["view"] == "elements" and first is not None:
        # Reading it first keeps the address from overruling the choice.
        address.start("run")
        st.session_state["run"] = first


def _of_several(found: list[Run], view: str) -> None:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        runs = pickers.pick_runs(found, pickers.together(found))
        chosen = measured_table.choose(runs or found) if view == "table" else measured_trend.choose()
        engine = measured_table.choose_engine() if view == "table" else "default"
        null = controls.switch(
            "null",
            "Random graphs of equal density",
            help="Beside each run: as many undirected edges as it kept, drawn at random from the original graph.",
        )
    pickers.tell_gone("runs")
    if not runs:
        frame.empty("No runs chosen", "Choose at least one run in the row above.", "straighten")
    elif isinstance(chosen, measured_trend.Trend):
        measured_trend.show(readable(runs), chosen, null)
    else:
        measured_table.show(readable(runs), chosen, null, engine)
