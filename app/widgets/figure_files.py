"""The files of a paper figure: its picture on the page is one of them, kept until its runs or choices change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import streamlit as st

from analysis.export import FIGURES, FigureChoices, csv_bytes, figure_bytes, json_bytes, on_page, plan
from app.widgets import reading
from glt.store import Run

MIME = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pgf": "application/x-tex",
    "csv": "text/csv",
    "json": "application/json",
}


class Shown(NamedTuple):
    """The PNG of a figure and the sentence under it."""

    picture: bytes
    caption: str


@dataclass(frozen=True)
class Wanted:
    """A figure, or several with commas between them in a `shape`, of these runs with these choices."""

    name: str
    runs: tuple[Run, ...]
    choices: FigureChoices
    shape: str | None = None

    @property
    def missing(self) -> str:
        """Say which runs it leaves out, "" where it shows them all."""
        return " ".join(dict.fromkeys(filter(None, (FIGURES.get(n).missing(self.runs) for n in self.name.split(",")))))

    def shown(self, dpi: int) -> Shown:
        """Return the figure as PNG, from the cache while neither its runs nor the choices have changed."""
        return _shown(self.name, reading.stamps(self.runs), repr(self.choices), self.shape, dpi, self)

    def file(self, kind: str, dpi: int) -> bytes:
        """Return the figure as a file, or the numbers in it as CSV or JSON."""
        if kind == "png":
            return self.shown(dpi).picture
        drawing = plan(self.name, self.runs, self.choices, self.shape)
        if kind in ("csv", "json"):
            return (csv_bytes if kind == "csv" else json_bytes)(drawing.points)
        return figure_bytes(on_page(drawing, self.choices), kind)


@st.cache_data(max_entries=64, show_spinner=False)
def _shown(
    name: str, stamps: tuple[reading.Stamp, ...], chosen: str, shape: str | None, dpi: int, _wanted: Wanted
) -> Shown:
    drawing = plan(name, _wanted.runs, _wanted.choices, shape)
    return Shown(figure_bytes(on_page(drawing, _wanted.choices), "png", dpi), drawing.caption)
