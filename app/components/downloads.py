"""Buttons for files that are written when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components import frame
from glt.errors import StudioError
from glt.user_text import brief


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
