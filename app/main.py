"""The app's entry point: `streamlit run app/main.py` opens the pages over the store that GLT_STORE names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from app.views import curves, export, launch, measurements, runs, subgraphs, tickets  # noqa: E402
from app.widgets import address, links  # noqa: E402

STATIC = Path(__file__).resolve().parent / "static"
VIEWS: Mapping[str, Callable[[], None]] = {
    "Launch": launch.page,
    "Runs": runs.page,
    "Curves": curves.page,
    "Subgraphs": subgraphs.page,
    "Measurements": measurements.page,
    "Tickets": tickets.page,
    "Export": export.page,
}


def home() -> None:
    """Open the curves: the first thing to see, at an address of their own."""
    links.go("curves")


def main() -> None:
    """Lay out the navigation and run the chosen page."""
    st.set_page_config(page_title="GLT Studio", page_icon=str(STATIC / "mark.svg"), layout="wide")
    st.logo(str(STATIC / "mark.svg"), size="large")
    st.html(STATIC / "style.css")
    pages = {title.lower(): st.Page(view, title=title, url_path=title.lower()) for title, view in VIEWS.items()}
    links.register(pages)
    start = st.Page(home, title="GLT Studio", url_path="home", default=True, visibility="hidden")
    chosen = st.navigation([start, *pages.values()], position="top")
    address.enter(chosen.url_path)
    chosen.run()
    address.write()


main()
