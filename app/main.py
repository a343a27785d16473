"""Entry point of the app: `streamlit run app/main.py`. GLT_STORE names the store."""

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
# Read once: every script run sends them.
MARK = (STATIC / "mark.svg").read_text(encoding="utf-8")
STYLE = f"<style>{(STATIC / 'style.css').read_text(encoding='utf-8')}</style>"
PAGES = ("Launch", "Runs", "Curves", "Subgraphs", "Measurements", "Tickets", "Compare", "Paper", "Export")
FIRST = "curves"


def main() -> None:
    """Show the navigation and the chosen page; a bare address opens Curves."""
    from app import protection, streamlit_patches

    protection.require_protection()
    st.set_page_config(page_title="GLT Studio", page_icon=MARK, layout="wide")
    st.logo(MARK, size="large")
    st.html(STYLE)
    # In every run, hidden by style.css: an element that appears or vanishes would redraw the figures below it.
    with st.container(key="prepare"):
        if "app.tour" not in sys.modules:
            streamlit_patches.preload_charts()
    # Imported late: the browser loads the page meanwhile.
    from app import tour
    from app.components import frame, url_state
    from app.data.runs import one_look
    from glt.datasets import cache

    cache.only_cached.set()
    streamlit_patches.apply_patches()
    # The first session of a server opens before the patches apply.
    protection.require_own_origin()
    pages = {title.lower(): st.Page(view(title.lower()), title=title, url_path=title.lower()) for title in PAGES}
    url_state.PAGES.update(pages)
    # Streamlit serves a default page at the bare address only, so no real page is the default.
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
    """Return the function that shows a page, imported when first opened."""

    def show() -> None:
        module, new = f"app.views.{name}", f"app.views.{name}" not in sys.modules
        page = importlib.import_module(module).page
        if new:
            # Imported modules stay: keep them out of garbage collection.
            gc.freeze()
        page()

    return show


if __name__ == "__main__":
    main()
