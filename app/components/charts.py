"""Charts with a sentence and numbers for every reader, and tables with rounded numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import alt_text
from app.components import url_state
from glt import formats
from glt.user_text import cell

PLAIN = {"displaylogo": False}


def show(figure: go.Figure, key: str, title: str, sentence: str = "", **looks: Any) -> Any:
    """Show a figure with a `sentence` of its numbers, by default its own; `looks` are those of `st.plotly_chart`."""
    alt = sentence or alt_text.sentence(figure, title)
    return st.plotly_chart(figure, key=key, theme=None, alt=alt, **{"config": PLAIN, **looks})


def numbers(figure: go.Figure, key: str, title: str, values: pd.DataFrame | None = None) -> None:
    """Offer the values of a figure, or others, in a pop-over, for charts without a table below."""
    shown = alt_text.table(figure) if values is None else values
    with st.popover("The numbers", type="tertiary", icon=":material/table_rows:", key=f"{key}-numbers"):
        st.dataframe(cells(shown), hide_index=True, key=f"{key}-table", alt=f"{title}: the numbers")


def show_rounds(figure: go.Figure, key: str, title: str) -> None:
    """Show a figure whose marks have [run, round] as customdata."""
    config = {**PLAIN, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}
    event = show(figure, key, title, on_select="rerun", selection_mode="points", config=config)
    for point in event.selection.points:
        if point.get("customdata"):
            run, number = point["customdata"][:2]
            url_state.go("subgraphs", run=str(run), round=str(number))


def table(key: str, read: pd.DataFrame) -> None:
    """Show a small table of figures as people read them."""
    with st.container(key=f"figures-{key}"):
        st.table(read, border="horizontal", hide_index=True, width="content")


def _decimals(columns: Mapping[str, Any]) -> dict[str, int]:
    """Return how many decimals the format of each column writes; columns without such a format are left out."""
    written = {name: str(column.get("type_config", {}).get("format")) for name, column in columns.items()}
    found = {name: re.search(r"%\+?\.(\d+)f", text) for name, text in written.items()}
    return {name: int(match[1]) for name, match in found.items() if match}


def cells(values: pd.DataFrame, columns: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Return a table for `st.dataframe`: rounded numbers, and texts that no spreadsheet evaluates.

    `columns` is the column configuration. A browser rounds the binary value, so a number under a format with decimals
    is rounded here first; it can save what it shows as CSV, so no text may look like a formula.
    """
    for name, decimals in _decimals(columns or {}).items():
        if name in values:
            values = values.assign(**{name: [formats.rounded(value, decimals) for value in values[name].astype(float)]})
    texts = {name: values[name].map(cell) for name in values if not pd.api.types.is_numeric_dtype(values[name])}
    return values.assign(**texts).rename(columns=cell)
