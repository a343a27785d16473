"""The app's entry point: `streamlit run app/main.py` opens the pages over the store that GLT_STORE names."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

STATIC = Path(__file__).resolve().parent / "static"
# Read once: each of them goes with every run of the script.
MARK = (STATIC / "mark.svg").read_text(encoding="utf-8")
STYLE = f"<style>{(STATIC / 'style.css').read_text(encoding='utf-8')}</style>"
PAGES = ("Launch", "Runs", "Curves", "Subgraphs", "Measurements", "Tickets", "Compare", "Paper", "Export")
FIRST = "curves"


def main() -> None:
    """Lay out the navigation and run the chosen page; the bare address leads to the curves."""
    from app import streamlit_patches

    streamlit_patches.require_protection()
    st.set_page_config(page_title="GLT Studio", page_icon=MARK, layout="wide")
    st.logo(MARK, size="large")
    st.html(STYLE)
    # There at every run, hidden by style.css: what comes and goes before a picture makes the browser draw it anew.
    with st.container(key="prepare"):
        if "app.tour" not in sys.modules:
            streamlit_patches.preload_charts()
    # Imported here: at a start of the server the browser prepares itself meanwhile.
    from app import tour
    from app.components import frame, url_state
    from app.data.runs import one_look
    from glt.datasets import cache

    cache.only_cached.set()
    streamlit_patches.apply_patches()
    # The first page of a server opens its session before the patches: this check covers it too.
    streamlit_patches.require_own_origin()
    pages = {title.lower(): st.Page(view(title.lower()), title=title, url_path=title.lower()) for title in PAGES}
    url_state.register_pages(pages)
    # Every page keeps an address of its own: a default page would answer only to the bare one.
    bare = st.Page(lambda: url_state.go(FIRST), title="GLT Studio", url_path="start", default=True, visibility="hidden")
    chosen = st.navigation([bare, *pages.values()], position="top")
    if chosen is not bare:
        st.set_page_config(page_title=f"{chosen.title} · GLT Studio")
    url_state.enter(chosen.url_path)
    with one_look():
        if chosen is not bare:
            frame.tell_store_gone()
            tour.show(chosen.url_path)
        chosen.run()
    url_state.write()


def view(name: str) -> Callable[[], None]:
    """Return the function that shows a page; what the page needs is imported when it is first opened."""

    def show() -> None:
        module, new = f"app.views.{name}", f"app.views.{name}" not in sys.modules
        page = importlib.import_module(module).page
        if new:
            # What was imported stays: collecting garbage need not look at it again.
            gc.freeze()
        page()

    return show


if __name__ == "__main__":
    main()
