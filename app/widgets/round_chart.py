"""A chart whose marks are rounds: a click on one opens it in Subgraphs."""

from __future__ import annotations

import plotly.graph_objects as go

from app.widgets import chart, links


def show(figure: go.Figure, key: str, title: str) -> None:
    """Show a figure whose marks have [run, round] as customdata."""
    config = {**chart.PLAIN, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}
    event = chart.show(figure, key, title, on_select="rerun", selection_mode="points", config=config)
    for point in event.selection.points:
        if point.get("customdata"):
            run, number = point["customdata"][:2]
            links.go("subgraphs", run=str(run), round=str(number))
