"""Charts: every one with a sentence that says what it shows, and its numbers as a table where the page has none."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from analysis import alternative

PLAIN = {"displaylogo": False}


def show(figure: go.Figure, key: str, title: str, numbers: bool = False, **looks: Any) -> Any:
    """Show a figure; `numbers` adds a table of its values in a pop-over, for charts without a table under them."""
    event = st.plotly_chart(
        figure, key=key, theme=None, alt=alternative.sentence(figure, title), **{"config": PLAIN, **looks}
    )
    if numbers:
        with st.popover("The numbers", type="tertiary", icon=":material/table_rows:", key=f"{key}-numbers"):
            st.dataframe(alternative.table(figure), hide_index=True, key=f"{key}-table", alt=f"{title}: the numbers")
    return event
