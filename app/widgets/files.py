"""Buttons for files that are written when they are asked for."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from glt.printable import cell


def file_button(label: str, name: str, mime: str, make: Callable[[], bytes]) -> None:
    """Offer a file of this name, written when it is asked for."""
    icon = ":material/download:"
    st.download_button(label, make, name, mime, key=f"download-{name}", on_click="ignore", icon=icon)


def csv_button(table: pd.DataFrame, name: str) -> None:
    """Offer a table of numbers as CSV."""

    def make() -> bytes:
        # Loads matplotlib, which a page that only shows the table does without.
        from analysis.export import csv_bytes

        return csv_bytes(table)

    file_button("CSV", name, "text/csv", make)


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts a spreadsheet does not compute: a browser can save what it shows as CSV."""
    texts = {name: table[name].map(cell) for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])}
    return table.assign(**texts).rename(columns=cell)
