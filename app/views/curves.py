"""Curves: accuracy of every round against what is left, with its numbers under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
import streamlit as st

from analysis import formats
from analysis.curves import accuracy_figure
from analysis.marks.axes import MAC_NAMES
from analysis.tables import Score, XAxis, caption, curve_table
from app.widgets import controls, frame, links, look, pickers, reading
from app.widgets.opened import opened
from glt.store import MAC_CONVENTIONS, MacConvention, Run

AXES = {"graph": "Graph sparsity", "weight": "Weight sparsity", "macs": "MACs"}
SCORES = {"test": "best validation", "test_last": "last epoch"}


@dataclass(frozen=True)
class View:
    """What the controls say."""

    x: XAxis
    macs: MacConvention
    score: Score
    tolerance: float
    paper: bool
    each_seed: bool


def page() -> None:
    """Show the page."""
    with frame.page("Curves", "Accuracy of every round against what was removed."):
        found = pickers.with_rounds(opened().runs)
        if not found:
            frame.empty(
                "No finished rounds yet",
                "A curve appears as soon as a run has finished its dense round.",
                "show_chart",
                "launch",
                "Launch a run",
            )
            return
        runs, view = _controls(found)
        if not runs:
            frame.empty("No runs chosen", "Choose at least one run in the row above.", "stacked_line_chart")
            return
        _picture(runs, view)


def _controls(found: list[Run]) -> tuple[list[Run], View]:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        runs = pickers.pick_runs(found, pickers.same_setting(found))
        x = controls.segments("x", "Horizontal axis", AXES)
        macs = controls.select("macs", "MACs count", {name: MAC_NAMES[name] for name in MAC_CONVENTIONS}, width=160)
        score = controls.select("score", "Test accuracy at", SCORES, width=150)
        tolerance = controls.tolerance()
        with st.container(width="content", gap=None):
            paper = controls.switch("paper", "Paper's points")
            each_seed = controls.switch("each_seed", "Each seed", default=True)
    view = View(cast(XAxis, x), cast(MacConvention, macs), cast(Score, score), tolerance, paper, each_seed)
    return runs, view


def _picture(runs: list[Run], view: View) -> None:
    rounds = reading.rounds_of(runs)
    table = curve_table(rounds, view.score, view.x, view.macs, view.tolerance)
    figure = accuracy_figure(
        table, rounds, x=view.x, score=view.score, macs=view.macs, paper=view.paper, dark=look.is_dark()
    )
    event = st.plotly_chart(
        figure,
        key="accuracy",
        theme=None,
        on_select="rerun",
        selection_mode="points",
        config={"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]},
        alt="Accuracy of every round against sparsity",
    )
    _open_point(event)
    st.caption(caption(rounds, view.score, view.macs, view.tolerance, view.paper))
    _numbers(table)


def _open_point(event: Any) -> None:
    """Open the round under a clicked point in Subgraphs."""
    for point in event.selection.points:
        if point.get("customdata"):
            run, number = point["customdata"][:2]
            links.go("subgraphs", run=str(run), round=str(number))


def _numbers(table: pd.DataFrame) -> None:
    st.dataframe(numbers(table), hide_index=True, key="numbers", height=320)


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `curve_table` as people read them."""
    return pd.DataFrame(
        {
            "Method": table["label"],
            "Round": table["round"],
            "Graph sparsity": [formats.percent(v) for v in table["graph_sparsity"]],
            "Weight sparsity": [formats.percent(v) for v in table["weight_sparsity"]],
            "Edges kept, either way": [formats.percent(v) for v in table["edges_kept_either_way"]],
            "both ways": [formats.percent(v) for v in table["edges_kept_both_ways"]],
            "MACs": [formats.macs(v) for v in table["macs"]],
            "Test accuracy": [
                formats.percent_interval(mean, high - mean)
                for mean, high in zip(table["mean"], table["high"], strict=True)
            ],
            "Against dense": [formats.points(v) for v in table["difference"]],
            "Ticket": ["★" if star else "" for star in table["is_ticket"]],
        }
    )
