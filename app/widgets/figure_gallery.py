"""All figures of the chosen runs as small pictures, each drawn as its exported file is; a click opens one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from analysis.export import FIGURES, GROUPS, FigureChoices, PaperFigure
from app.widgets import measuring, pickers
from app.widgets.figure_files import Wanted
from app.widgets.frame import plain
from glt.errors import StudioError
from glt.store import Run

NAME = "gallery"
ACROSS, DPI = 3, 120
# A picture taller than this is shown in a window of its own height (pixels).
HEIGHT = 270
# A figure with a panel a run shows so many of them here: a strip of more is too narrow to read.
MOST_PANELS = 4
SLOW = "Reads every round of every seed: open it to draw it."
LARGE = "Reads a large graph: open it to draw it."


def show(runs: Sequence[Run], choices: FigureChoices) -> None:
    """Show every figure there is of these runs, drawn one after the other; those drawn before are there at once."""
    choices = replace(choices, round=min(pickers.DEFAULT_ROUND, _last(runs)))
    for group, words in GROUPS.items():
        st.subheader(words, anchor=False)
        entries = [figure for figure in FIGURES if figure.group == group]
        for start in range(0, len(entries), ACROSS):
            for place, entry in zip(st.columns(ACROSS), entries[start : start + ACROSS], strict=False):
                with place:
                    _card(entry, runs, choices)


def _last(runs: Sequence[Run]) -> int:
    counts = [run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()]
    return max(min(counts, default=1) - 1, 0)


def _card(entry: PaperFigure, runs: Sequence[Run], choices: FigureChoices) -> None:
    shown = runs[:MOST_PANELS] if "round" in entry.uses else runs
    with st.container(border=True, key=f"card-{entry.name}", gap="small"):
        st.button(entry.label, key=f"open-{entry.name}", on_click=choose, args=(entry.name,), width="stretch")
        with st.container(height=HEIGHT, border=False, key=f"thumb-{entry.name}", horizontal_alignment="center"):
            _thumbnail(entry, Wanted(entry.name, tuple(shown), choices))
        if len(shown) < len(runs):
            st.caption(f"The first {len(shown)} of {len(runs)} runs; open it for all.")


def _thumbnail(entry: PaperFigure, wanted: Wanted) -> None:
    if entry.slow:
        st.caption(f":material/hourglass_empty: {SLOW}")
        return
    try:
        if entry.group == "structure" and "round" in entry.uses and measuring.is_large(wanted.runs[:1]):
            st.caption(f":material/hourglass_empty: {LARGE}")
            return
        with st.skeleton(height=HEIGHT - 20):
            picture = wanted.shown(DPI).picture
        st.image(picture, width="stretch", alt=f"Preview: {entry.label}")
    except StudioError as error:
        st.caption(f":material/info: {plain(str(error))}")
    # One that fails by itself must not cost the rest; Streamlit's own exceptions, which end a page, are no Exception.
    except Exception as error:
        st.caption(f":material/info: It could not be drawn ({plain(f'{type(error).__name__}: {error}')}).")


def way_back() -> None:
    """Offer the gallery from a figure."""
    icon = ":material/grid_view:"
    st.button("All figures", key="to-gallery", type="tertiary", icon=icon, on_click=choose, args=(NAME,))


def choose(name: str) -> None:
    """Open a figure, or the gallery, as if it had been chosen above."""
    st.session_state["what"] = name
