"""Charts: every one with a sentence that says what it shows, and its numbers as a table where the page has none."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import alternative
from app.widgets import files

PLAIN = {"displaylogo": False}


def show(figure: go.Figure, key: str, title: str, sentence: str = "", **looks: Any) -> Any:
    """Show a figure with a `sentence` of its numbers, by default its own; `looks` are those of `st.plotly_chart`."""
    alt = sentence or alternative.sentence(figure, title)
    return st.plotly_chart(figure, key=key, theme=None, alt=alt, **{"config": PLAIN, **looks})


def numbers(figure: go.Figure, key: str, title: str, table: pd.DataFrame | None = None) -> None:
    """Offer the values of a figure, or its `table`, in a pop-over: for charts that have no table under them."""
    shown = alternative.table(figure) if table is None else table
    with st.popover("The numbers", type="tertiary", icon=":material/table_rows:", key=f"{key}-numbers"):
        st.dataframe(files.cells(shown), hide_index=True, key=f"{key}-table", alt=f"{title}: the numbers")
