"""The guided tour: a card on five pages, shown at the first start and on request."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app.components import controls, run_select, url_state
from app.data.runs import bundled, open_catalog
from glt.errors import StudioError
from glt.store.atomic_io import make_folder, replace_file
from glt.user_path import state_folder


def is_first_start() -> bool:
    """Return whether there are examples, no own runs, and no ended tour."""
    try:
        if ended_file().exists():
            return False
        catalog = open_catalog()
    except StudioError:
        return False
    return bool(catalog.examples) and not catalog.own


def ended_file() -> Path:
    """Return the file that marks an ended tour (in `XDG_STATE_HOME`)."""
    return state_folder() / "tour-ended"


PARAMETER = "tour"
_RUNNING = "tour: running"


@dataclass(frozen=True)
class TourStep:
    """One card: its page, title, text, and view of the examples."""

    page: str
    title: str
    text: str
    view: Mapping[str, str]


STEPS = (
    TourStep(
        "curves",
        "What pruning costs",
        "Each mark is one round of pruning; further right, more edges and weights are removed. The dashed line is the "
        "unpruned (dense) network, bands are 95% intervals over seeds, a star is a ticket.",
        {"x": "graph"},
    ),
    TourStep(
        "subgraphs",
        "Removed edges",
        "The same nodes before and after nine rounds of UGS and of random pruning. Press Play to replay the rounds; "
        "click an edge to see why it was cut.",
        {"round": "9", "seed": "0", "section": "why"},
    ),
    TourStep(
        "measurements",
        "Graph structure after pruning",
        "Clustering, reach and other measures, beside random graphs of equal density. Removing as many edges at random "
        "would also give a value inside their interval.",
        {"view": "table", "round": "9", "null": "1"},
    ),
    TourStep(
        "tickets",
        "Pruned networks that lose little",
        "A ticket is a round that loses significantly less than the margin, here half a point, against the dense "
        "network. If neither less nor more is significant, the round is open: the page estimates the seeds needed.",
        {"x": "graph", "margin": "0.5"},
    ),
    TourStep(
        "export",
        "Figures for your paper",
        "The same figure at the width of a journal, as PDF, SVG or PNG, with its table as LaTeX and everything needed "
        "to reproduce it. Next, start a run of your own.",
        {"x": "all", "columns": "2"},
    ),
)


def show(page: str) -> None:
    """Show the card of a page while the tour runs, else the link that starts it.

    The tour runs once the address names a step (`tour=3`), or when a first start opens the first page with no
    parameters. An address with only a step opens the view of that step.
    """
    named = controls.whole([st.query_params.get(PARAMETER, "")], 0)
    if 1 <= named <= len(STEPS) and (page != STEPS[named - 1].page or len(st.query_params) == 1):
        url_state.go(STEPS[named - 1].page, **_view(STEPS[named - 1], named))
    place = next((place for place, step in enumerate(STEPS) if step.page == page), None)
    if _runs(page, 1 <= named <= len(STEPS)) and place is not None:
        _card(place)
    else:
        _entry()


def _runs(page: str, is_named: bool) -> bool:
    if is_named:
        st.session_state[_RUNNING] = True
    elif _RUNNING not in st.session_state:
        plain_start = page == STEPS[0].page and not st.query_params
        st.session_state[_RUNNING] = plain_start and is_first_start()
    return bool(st.session_state[_RUNNING])


def _card(place: int) -> None:
    step = STEPS[place]
    url_state.keep(PARAMETER, [str(place + 1)])
    with st.container(key="tour", border=True, horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width="stretch", gap=None):
            st.markdown(f"**{step.title}** :gray[· tour, step {place + 1} of {len(STEPS)}]")
            st.markdown(step.text)
        is_last = place + 1 == len(STEPS)
        word = "Launch a run" if is_last else f"Next: {STEPS[place + 1].page.capitalize()}"
        ahead = st.button(word, key="tour-next", type="primary", icon=":material/arrow_forward:", icon_position="right")
        st.button("End tour", key="tour-end", type="tertiary", on_click=end)
    if ahead and is_last:
        end()
        url_state.go("launch")
    if ahead:
        url_state.go(STEPS[place + 1].page, **_view(STEPS[place + 1], place + 2))


def _entry() -> None:
    """Show the link that starts the tour, in the top bar."""
    if bundled():
        with st.container(key="tour-entry", width="content"):
            url_state.link(STEPS[0].page, "Tour", None, **_view(STEPS[0], 1))


def _view(step: TourStep, number: int) -> dict[str, str | list[str]]:
    """Return the address of a step: its view of the bundled examples."""
    names = [run.reference for run in run_select.together(bundled())]
    beside = {"beside": names[1]} if len(names) > 1 else {}
    runs = {"runs": names} if step.page != "subgraphs" else {"run": names[0], **beside} if names else {}
    return {**runs, **step.view, PARAMETER: str(number)}


def end() -> None:
    """End the tour, for later starts too."""
    st.session_state[_RUNNING] = False
    url_state.drop(PARAMETER)
    st.query_params.pop(PARAMETER, None)
    # A folder that cannot be written shows the tour again at the next first start.
    with suppress(StudioError):
        make_folder(ended_file().parent)
        replace_file(ended_file(), b"Delete this file to show the guided tour at the next first start.\n")
