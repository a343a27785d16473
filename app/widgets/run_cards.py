"""The list on the Runs page: a card for every run and pre-training, the chosen one marked."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.widgets import frame, look, pickers, pretrainings, run_filter
from app.widgets.opened import Opened
from app.widgets.progress import RunProgress, counts, run_progress
from glt import formats
from glt.store import AnyRun, Run

MOST_CARDS = 20
PAGES = "runs: pages"


def listing(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Show the user's runs, pre-trainings and the examples that the words of the filter fit."""
    details = pickers.run_details(found.runs)
    own, pretrained = run_filter.matching(found.own, words), run_filter.matching(found.pretrainings, words)
    examples = run_filter.matching(found.examples, words)
    if words and not (own or pretrained or examples):
        st.caption("No run fits all these words.")
    for run in _first(own, chosen):
        _of_run(run, details[run.name], chosen)
    if pretrained:
        st.caption("Pre-training: first layers that runs can start from")
    for pretraining in pretrained:
        now = pretrainings.progress(pretraining)
        _card(now, pretrainings.title(pretraining), "", "", chosen)
    if examples:
        st.caption("Examples: finished runs that come with the app, read-only")
    for run in examples:
        _of_run(run, details[run.name], chosen)


def _first(runs: Sequence[Run], chosen: str) -> Sequence[Run]:
    """Return as many runs as are shown at once and the chosen one, with the way to more."""
    shown = MOST_CARDS * st.session_state.setdefault(PAGES, 1)
    if len(runs) <= shown:
        return runs
    st.caption(f"{shown} of {formats.number_of(len(runs), 'run')} that fit")
    if st.button(f"Show {min(MOST_CARDS, len(runs) - shown)} more", key="more-runs", type="tertiary"):
        st.session_state[PAGES] += 1
        st.rerun()
    return [run for place, run in enumerate(runs) if place < shown or run.name == chosen]


def select(run: AnyRun) -> None:
    """Show another run beside the list from now on."""
    st.session_state["run"] = run.name
    st.rerun()


def _of_run(run: Run, details: str, chosen: str) -> None:
    now = run_progress(run)
    _card(now, pickers.run_title(run), details, "damaged" if now.damage else now.newest or "", chosen)


def _card(now: RunProgress, title: str, details: str, told: str, chosen: str) -> None:
    name = now.run.name
    states = [seed.state for seed in now.seeds]
    seeds = counts(states) if now.is_mixed else formats.number_of(len(states), "seed")
    with st.container(border=True, key=f"card-{'chosen-' if name == chosen else ''}{name}", gap=None):
        if st.button(f"**{frame.plain(title)}**", key=f"open-{name}", type="tertiary"):
            select(now.run)
        if details:
            st.caption(frame.plain(details))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            look.state_chip(now.state)
            st.caption(f"{seeds} · {told}" if told else seeds, width="content")
        if now.is_active:
            st.progress(now.fraction)
