"""Charts with a text alternative and their numbers, tables, and download buttons."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import alt_text
from app.components import frame, url_state
from glt import formats
from glt.errors import StudioError
from glt.user_text import brief, cell

PLAIN = {"displaylogo": False}


def show_figure(figure: go.Figure, key: str, title: str, sentence: str = "", **looks: Any) -> Any:
    """Show a figure with a `sentence` of its numbers, by default its own; `looks` are those of `st.plotly_chart`."""
    alt = sentence or alt_text.sentence(figure, title)
    return st.plotly_chart(figure, key=key, theme=None, alt=alt, **{"config": PLAIN, **looks})


def draw_numbers(figure: go.Figure, key: str, title: str, values: pd.DataFrame | None = None) -> None:
    """Offer the values of a figure, or others, in a pop-over, for charts without a table below."""
    shown = alt_text.table(figure) if values is None else values
    with st.popover("The numbers", type="tertiary", icon=":material/table_rows:", key=f"{key}-numbers"):
        st.dataframe(cells(shown), hide_index=True, key=f"{key}-table", alt=f"{title}: the numbers")


def show_rounds(figure: go.Figure, key: str, title: str) -> None:
    """Show a figure whose marks have [run, round] as customdata."""
    config = {**PLAIN, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}
    event = show_figure(figure, key, title, on_select="rerun", selection_mode="points", config=config)
    for point in event.selection.points:
        if point.get("customdata"):
            run, number = point["customdata"][:2]
            url_state.go("subgraphs", run=str(run), round=str(number))


def draw_table(key: str, read: pd.DataFrame) -> None:
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


class Written:
    """A file that is written once, when the browser or the page first asks for it."""

    def __init__(self, name: str, make: Callable[[], bytes]) -> None:
        self._name, self._make = name, make
        self._lock, self._is_tried = threading.Lock(), False
        self._done = b""
        self._error: Exception | None = None

    def content(self) -> bytes:
        """Return its bytes; raises the error of writing it."""
        self._try()
        if self._error is not None:
            raise self._error
        return self._done

    def failure(self) -> str:
        """Return why it could not be written, "" where it could."""
        self._try()
        if self._error is None or isinstance(self._error, StudioError):
            return str(self._error or "")
        told = f"{type(self._error).__name__}: {self._error}".rstrip(".")
        return f"{self._name} could not be written ({brief(told)}): choose another kind of file, or other runs."

    def _try(self) -> None:
        with self._lock:
            if not self._is_tried:
                self._is_tried = True
                try:
                    self._done = self._make()
                except Exception as error:
                    self._error = error


def file_button(
    label: str, name: str, mime: str, make: Callable[[], bytes], told: DeltaGenerator | None = None
) -> None:
    """Offer a file that is written when asked for; a failure is shown in `told`, else beside the button."""
    key, icon = f"download-{name}", ":material/download:"
    asked, file = st.session_state.get(f"file {key}"), Written(name, make)
    # The browser fetches the file outside the page, so the page asks for the file too to learn of a failure.
    pressed = st.download_button(label, file.content, name, mime, key=key, icon=icon)
    st.session_state[f"file {key}"] = file
    if pressed and asked is not None and (why := asked.failure()):
        with told or st.container():
            frame.failure(why)


def csv_button(table: pd.DataFrame, name: str) -> None:
    """Offer a table of numbers as CSV."""

    def make() -> bytes:
        # Loads matplotlib, which a page that only shows the table does without.
        from analysis.bundle import csv_bytes

        return csv_bytes(table)

    file_button("CSV", name, "text/csv", make)
