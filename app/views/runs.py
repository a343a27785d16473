"""Runs: what is at work, what is finished, and one run in detail."""

from __future__ import annotations

import streamlit as st

from analysis import names, palette
from app.widgets import (
    address,
    controls,
    frame,
    links,
    look,
    pickers,
    pretraining_cards,
    run_actions,
    seed_rows,
    training,
)
from app.widgets.opened import Opened, opened
from app.widgets.progress import RunProgress, any_active, counts, run_progress
from glt import formats
from glt.store import Run

SECONDS_BETWEEN_LOOKS = 2
LOG_LINES = 60


def page() -> None:
    """Show the page."""
    with frame.page("Runs", "What is at work, what is finished, and how far each seed has come."):
        found = opened()
        live = any_active((*found.own, *found.pretrainings))
        pace = SECONDS_BETWEEN_LOOKS if live else None
        if not found.runs and found.pretrainings:
            st.fragment(_pretrainings, run_every=pace)(live)
            run_actions.store_line(found)
            return
        if not found.runs:
            run_actions.damaged(found)
            frame.empty("No runs yet", f"The store {found.store.root} is empty.", "list_alt", "launch", "Launch a run")
            return
        listing, detail = st.columns([1, 2.3], gap="medium")
        with listing:
            st.fragment(_list, run_every=pace)(live)
        with detail:
            st.fragment(_seeds, run_every=pace)()
            training.panel(_selected(found), live)
            _details(_selected(found), pace)
        run_actions.store_line(found)


def _list(was_live: bool) -> None:
    """Show a card a run; look again every few seconds while something is at work."""
    found = opened()
    if was_live and not any_active((*found.own, *found.pretrainings)):
        st.rerun()
    chosen = _selected(found).name
    titles = pickers.run_titles(found.runs)
    for run in found.own:
        _card(run, titles[run.name], run_progress(run), run.name == chosen)
    pretraining_cards.section(found)
    if found.examples:
        st.caption("Examples: finished runs that come with the app, read-only")
    for run in found.examples:
        _card(run, titles[run.name], run_progress(run), run.name == chosen)
    run_actions.damaged(found)


def _pretrainings(was_live: bool) -> None:
    """Show pre-trainings alone, as long as nothing has started from them."""
    found = opened()
    if was_live and not any_active(found.pretrainings):
        st.rerun()
    pretraining_cards.section(found)


def _selected(found: Opened) -> Run:
    """Return the run the address names, else the first one."""
    known = [run.name for run in found.runs]
    given = address.start("run")
    wanted = (given[0] if given else "") if given is not None else st.session_state["run"]
    controls.tell_unknown("run", "run", known)
    st.session_state["run"] = wanted if wanted in known else known[0]
    address.keep("run", [st.session_state["run"]])
    return found.find(st.session_state["run"])


def _card(run: Run, title: str, progress: RunProgress, chosen: bool) -> None:
    seeds = (
        counts([seed.state for seed in progress.seeds])
        if progress.is_mixed
        else formats.number_of(len(progress.seeds), "seed")
    )
    with st.container(border=True, key=f"card-{'chosen-' if chosen else ''}{run.name}", gap=None):
        if st.button(f"**{title}**", key=f"open-{run.name}", type="tertiary"):
            st.session_state["run"] = run.name
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            look.state_chip(progress.state)
            told = "damaged" if progress.damage else progress.newest
            st.caption(f"{seeds} · {told}" if told else seeds, width="content")
        if progress.is_active:
            st.progress(progress.fraction)


def _seeds() -> None:
    """Show the chosen run's seeds and what can be done about them."""
    found = opened()
    run = _selected(found)
    progress = run_progress(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run-head"):
        title = f"{palette.label(run.config.method)} on {names.dataset(run.config.dataset)}"
        st.subheader(title, anchor=False, width="content")
        st.caption(run.name, width="content")
        st.space("stretch")
        run_actions.buttons(found, progress)
    if progress.damage:
        frame.failure(progress.damage)
    for seed in progress.seeds:
        seed_rows.row(found, run, seed)


def _details(run: Run, pace: int | None) -> None:
    settings, log = st.columns(2, gap="medium")
    with settings, st.expander("Settings", icon=":material/tune:", key="settings"):
        config = run.config.model_dump(exclude={"options"})
        st.table({name: str(value) for name, value in {**config, **run.config.options}.items()}, border="horizontal")
    with log, st.expander("Log", icon=":material/notes:", key="log"):
        st.fragment(seed_rows.log, run_every=pace)(run, LOG_LINES)
    with st.container(horizontal=True):
        links.link("curves", "Curves", ":material/show_chart:", runs=run.name)
        links.link("subgraphs", "Subgraphs", ":material/hub:", run=run.name)
        links.link("tickets", "Tickets", ":material/confirmation_number:", runs=run.name)
