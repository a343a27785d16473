"""The app's entry point: `streamlit run app/main.py` opens the pages over the store that GLT_STORE names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from app.widgets import address, links, offline, tour  # noqa: E402
from glt.data import reading_apart  # noqa: E402

STATIC = Path(__file__).resolve().parent / "static"
PAGES = ("Launch", "Runs", "Curves", "Subgraphs", "Measurements", "Tickets", "Compare", "Paper", "Export")
FIRST = "curves"


def main() -> None:
    """Lay out the navigation and run the chosen page; the bare address leads to the curves."""
    reading_apart.only_apart.set()
    offline.stay()
    st.set_page_config(page_title="GLT Studio", page_icon=str(STATIC / "mark.svg"), layout="wide")
    st.logo(str(STATIC / "mark.svg"), size="large")
    st.html(STATIC / "style.css")
    pages = {title.lower(): st.Page(view(title.lower()), title=title, url_path=title.lower()) for title in PAGES}
    links.register(pages)
    # Every page keeps an address of its own: a default page would answer only to the bare one.
    bare = st.Page(lambda: links.go(FIRST), title="GLT Studio", url_path="start", default=True, visibility="hidden")
    chosen = st.navigation([bare, *pages.values()], position="top")
    if chosen is not bare:
        st.set_page_config(page_title=f"{chosen.title} · GLT Studio")
    address.enter(chosen.url_path)
    if chosen is not bare:
        tour.show(chosen.url_path)
    chosen.run()
    address.write()


def view(name: str) -> Callable[[], None]:
    """Return the function that shows a page; what the page needs is imported when it is first opened."""

    def show() -> None:
        importlib.import_module(f"app.views.{name}").page()

    return show


if __name__ == "__main__":
    main()
