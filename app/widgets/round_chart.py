"""A chart whose marks are rounds: a click on one opens it in Subgraphs."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from app.widgets import links


def show(figure: go.Figure, key: str, alt: str) -> None:
    """Show a figure whose marks have [run, round] as customdata."""
    event = st.plotly_chart(
        figure,
        key=key,
        theme=None,
        on_select="rerun",
        selection_mode="points",
        config={"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]},
        alt=alt,
    )
    for point in event.selection.points:
        if point.get("customdata"):
            run, number = point["customdata"][:2]
            links.go("subgraphs", run=str(run), round=str(number))
