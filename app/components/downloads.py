"""Charts with a text alternative and their numbers, tables, and download buttons."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, ParamSpec

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import alt_text
from analysis.drawing import screen
from analysis.drawing.description import Description
from app.components import frame, url_state
from app.data import cache
from glt import formats
from glt.errors import StudioError, brief
from glt.formats import MISSING, cell

Parameters = ParamSpec("Parameters")
PLAIN = {"displaylogo": False}
# Cells of a table with formatted signs; pandas styles at most 262,144.
MOST_STYLED = 100_000


def drawn(entries: int = 32) -> Callable[[Callable[Parameters, Description]], Callable[Parameters, go.Figure]]:
    """Return a decorator that draws a described figure in the page's theme, cached for all tabs."""

    def decorate(describe: Callable[Parameters, Description]) -> Callable[Parameters, go.Figure]:
        @cache.cached(entries, shared=True)
        @wraps(describe)
        def draw(is_dark: bool, args: tuple[Any, ...], named: dict[str, Any]) -> go.Figure:
            return screen.draw(describe(*args, **named), is_dark)

        @wraps(describe)
        def figure(*args: Parameters.args, **named: Parameters.kwargs) -> go.Figure:
            return draw(frame.is_dark(), args, named)

        return figure

    return decorate


def show_figure(figure: go.Figure, key: str, title: str, sentence: str = "", **looks: Any) -> Any:
    """Show a figure with a text alternative (`sentence`, by default computed).

    `looks` are arguments of `st.plotly_chart`.
    """
    alt = sentence or alt_text.sentence(figure, title)
    return st.plotly_chart(figure, key=key, theme=None, alt=alt, **{"config": PLAIN, **looks})


def numbers_popover(figure: go.Figure, key: str, title: str, values: pd.DataFrame | None = None) -> None:
    """Show the numbers of a figure, or other `values`, in a popover."""
    shown = alt_text.table(figure) if values is None else values
    with st.popover("Numbers", type="tertiary", icon=":material/table_rows:", key=f"{key}-numbers"):
        show_number_table(shown, key=f"{key}-table", alt=f"{title}: numbers")


def show_rounds(figure: go.Figure, key: str, title: str) -> None:
    """Show a figure whose marks have [run, round] as customdata; a click opens Subgraphs."""
    config = {**PLAIN, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}
    event = show_figure(figure, key, title, on_select="rerun", selection_mode="points", config=config)
    for point in event.selection.points:
        if point.get("customdata"):
            run, number = point["customdata"][:2]
            url_state.go("subgraphs", run=str(run), round=str(number))


def show_text_table(key: str, read: pd.DataFrame) -> None:
    """Show a small table of formatted numbers."""
    with st.container(key=f"figures-{key}"):
        st.table(read, border="horizontal", hide_index=True, width="content")


def show_number_table(values: pd.DataFrame, columns: Mapping[str, Any] | None = None, **looks: Any) -> Any:
    """Show a table of numbers that can be sorted; `looks` are arguments of `st.dataframe`.

    `columns` is the column configuration. The browser writes a hyphen before negative numbers, so columns with a signed
    format (`%+.1f`) are formatted here, with a minus sign.
    """
    configs, table = dict(columns or {}), cells(values, columns)
    signed = {name: _format(configs[name]) for name in table.columns.intersection(list(configs))}
    signed = {name: text for name, text in signed.items() if "%+" in text}
    styled: Any = table
    if signed and 0 < table.size <= MOST_STYLED:
        for name in signed:
            configs[name] = {**configs[name], "type_config": {**configs[name]["type_config"], "format": None}}
        styled = table.reset_index(drop=True).style.format(
            {name: partial(_signed, text) for name, text in signed.items()}, na_rep=MISSING
        )
    return st.dataframe(styled, hide_index=True, column_config=configs, **looks)


def _format(column: Mapping[str, Any]) -> str:
    return str(column.get("type_config", {}).get("format"))


def _signed(text: str, value: float) -> str:
    """Return a number in a `printf` format, with a minus sign.

    >>> _signed("%+.1f points", -0.25), _signed("%+.3f", 1)
    ('\N{MINUS SIGN}0.2 points', '+1.000')
    """
    return (text % value).replace("-", "\N{MINUS SIGN}")


def cells(values: pd.DataFrame, columns: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Return a table for `st.dataframe` with rounded numbers and safe texts.

    `columns` is the column configuration. Numbers with a format are rounded here, because the browser rounds binary
    values. Texts must not look like formulas, because the browser offers the table as CSV.
    """
    for name, column in (columns or {}).items():
        decimals = re.search(r"%\+?\.(\d+)f", _format(column))
        if decimals and name in values:
            rounded = [formats.rounded(value, int(decimals[1])) for value in values[name].astype(float)]
            values = values.assign(**{name: rounded})
    texts = {name: values[name].map(cell) for name in values if not pd.api.types.is_numeric_dtype(values[name])}
    return values.assign(**texts).rename(columns=cell)


class Written:
    """A file that is written once, when the browser or the page first needs it."""

    def __init__(self, name: str, make: Callable[[], bytes]) -> None:
        self._name, self._make = name, make
        self._lock, self._is_tried = threading.Lock(), False
        self._done = b""
        self._error: Exception | None = None

    def content(self) -> bytes:
        """Return its bytes; raises the error of writing."""
        self._try()
        if self._error is not None:
            raise self._error
        return self._done

    def failure(self) -> str:
        """Return why it could not be written, "" if it was."""
        self._try()
        if self._error is None or isinstance(self._error, StudioError):
            return str(self._error or "")
        reason = f"{type(self._error).__name__}: {self._error}".rstrip(".")
        return f"{self._name} could not be written ({brief(reason)}): choose another file format, or other runs."

    def _try(self) -> None:
        with self._lock:
            if not self._is_tried:
                self._is_tried = True
                try:
                    self._done = self._make()
                except Exception as error:
                    self._error = error


def file_button(
    label: str, name: str, mime: str, make: Callable[[], bytes], failures: DeltaGenerator | None = None
) -> None:
    """Offer a file that is written on request; `failures` is where an error is shown."""
    key, icon = f"download-{name}", ":material/download:"
    offered, file = st.session_state.get(f"file {key}"), Written(name, make)
    # The browser fetches the file outside the page, so the page reads it too, to learn of a failure.
    pressed = st.download_button(label, file.content, name, mime, key=key, icon=icon)
    st.session_state[f"file {key}"] = file
    if pressed and offered is not None and (why := offered.failure()):
        with failures or st.container():
            frame.failure(why)


def csv_button(table: pd.DataFrame, name: str) -> None:
    """Offer a table of numbers as CSV."""

    def make() -> bytes:
        # Imported late: loads matplotlib.
        from analysis.drawing.files import csv_bytes

        return csv_bytes(table)

    file_button("CSV", name, "text/csv", make)
