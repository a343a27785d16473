"""The Pareto front of the chosen runs: figure, what a click opens, and its caption."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from analysis.curves import pareto_figure
from analysis.tables import Score, XAxis, caption
from analysis.tables.pareto import with_front
from app.widgets import frame, look, reading, round_chart
from glt.store import Run

ABOUT = (
    "Every round is a point; full ones are on the Pareto front, where no other round has both a mean score as high and "
    "a cost as low. It is a front of means, without a test, over all chosen runs of one data set and network."
)


def picture(runs: Sequence[Run], x: XAxis, score: Score, margin: float) -> None:
    """Draw all rounds with the front, MACs with dense features; a click on a point opens its round in Subgraphs."""
    stamps = reading.stamps(runs)
    figure = _figure(stamps, x, score, margin, look.is_dark(), list(runs))
    round_chart.show(figure, "pareto", "Test score of every round against its cost, with the Pareto front")
    told = caption(reading.rounds_of(runs), score, "dense_features", margin, paper=False)
    st.caption(f"{ABOUT} {frame.plain(told)}")


@st.cache_resource(max_entries=32, show_spinner=False)
def _figure(
    stamps: tuple[reading.Stamp, ...], x: XAxis, score: Score, margin: float, dark: bool, _runs: list[Run]
) -> go.Figure:
    table = reading.curve_of(_runs, score, x, "dense_features", margin)
    return pareto_figure(with_front(table, x), reading.rounds_of(_runs), x=x, score=score, dark=dark)
