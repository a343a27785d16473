"""Runs: what is at work, what is finished, and one run in detail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from analysis import names, palette
from app.widgets import (
    address,
    annotating,
    controls,
    doctor,
    frame,
    links,
    pickers,
    pretrainings,
    run_actions,
    run_cards,
    run_filter,
    seed_rows,
    training,
)
from app.widgets.opened import Opened, opened
from app.widgets.progress import any_active, run_progress
from glt import jobs
from glt.presets import all_options
from glt.store import AnyRun, Pretraining, Run

SECONDS_BETWEEN_LOOKS = 2
# A page on which nothing moves: for a run that is started elsewhere.
SECONDS_BETWEEN_GLANCES = 5
LOG_LINES = 60


def page() -> None:
    """Show the page."""
    with frame.page("Runs", "What is at work, what is finished, and how far each seed has come."):
        found = opened()
        annotating.damage(found)
        live = any_active((*found.own, *found.pretrainings))
        pace = SECONDS_BETWEEN_LOOKS if live else None
        if not found.runs and not found.pretrainings:
            pickers.tell_none_left("run")
            run_actions.damaged(found)
            frame.empty("No runs yet", f"The store {found.store.root} is empty.", "list_alt", "launch", "Launch a run")
            if found.store.trashed():
                run_actions.store_line(found)
            return
        listing, detail = st.columns([1, 2.3], gap="medium")
        if not live:
            st.fragment(frame.explained(_wake), run_every=SECONDS_BETWEEN_GLANCES)(found.store.queue_path)
        with listing:
            words = run_filter.pick_words(len(found.runs) + len(found.pretrainings))
            st.fragment(frame.explained(_list), run_every=pace)(live, words)
            run_cards.examples(found, _chosen(found), words)
            run_actions.damaged(found)
            run_cards.hidden_ones(found, _chosen(found), words)
        with detail:
            _detail(_selected(found), live, pace)
        run_actions.store_line(found)


def _wake(queue: Path) -> None:
    """Show the page anew, live, once something is at work that another page or a terminal started."""
    if jobs.is_busy(queue):
        found = opened()
        if any_active((*found.own, *found.pretrainings)):
            st.rerun()


def _list(was_live: bool, words: Sequence[str]) -> None:
    """Show a card a run of the user's; look again every few seconds while something is at work."""
    found = opened()
    if was_live and not any_active((*found.own, *found.pretrainings)):
        st.rerun()
    run_cards.own_ones(found, _chosen(found), words)


def _detail(chosen: AnyRun | None, live: bool, pace: int | None) -> None:
    if chosen is None:
        pickers.tell_gone("run")
        st.caption("The runs that are here stand in the list: choose one of them.")
    if isinstance(chosen, Pretraining):
        st.fragment(frame.explained(pretrainings.panel), run_every=pace)(chosen)
    if isinstance(chosen, Run):
        st.fragment(frame.explained(_seeds), run_every=pace)(chosen)
        training.panel(chosen, live)
        _settings(chosen, pace)
        frame.results_note([chosen])


def _chosen(found: Opened) -> str:
    """Return the reference of the selected run, "" where it is gone."""
    chosen = _selected(found)
    return "" if chosen is None else chosen.reference


def _selected(found: Opened) -> AnyRun | None:
    """Return the run or pre-training the address names, else the first one; None where the one chosen is gone."""
    known: dict[str, AnyRun] = {run.reference: run for run in (*found.runs, *found.pretrainings)}
    if gone := pickers.gone_from("run", known):
        address.start("run")
        address.keep("run", gone[:1])
        return None
    given = controls.started("run", known)
    wanted = (given[0] if given else "") if given is not None else st.session_state["run"]
    controls.tell_unknown("run", "run", list(known))
    chosen = known.get(wanted, next(iter(known.values())))
    st.session_state["run"] = chosen.reference
    address.keep("run", [chosen.reference])
    return chosen


def _seeds(run: Run) -> None:
    """Show the run's seeds and what can be done about them, as they are now."""
    found = opened()
    if found.absence(run.reference):
        st.rerun()
    run = found.find(run.reference)
    progress = run_progress(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run-head"):
        about = f"{palette.label(run.config.method)} on {names.dataset(run.config.dataset)}"
        st.subheader(frame.plain(run.annotation.title or about), anchor=False, width="content")
        st.caption(run.reference, width="content")
        st.space("stretch")
        annotating.editor(found, run, about)
        run_actions.buttons(found, progress)
    annotating.note(run)
    if progress.damage:
        frame.failure(progress.damage)
        if not run.is_example:
            doctor.offer(found, run.path)
    for seed in progress.seeds:
        seed_rows.row(found, run, seed)


def _settings(run: Run, pace: int | None) -> None:
    settings, log = st.columns(2, gap="medium")
    with settings, st.expander("Settings", icon=":material/tune:", key="settings"):
        config = run.config.model_dump(exclude={"options"})
        options = {name: "not set" if value is None else value for name, value in all_options(run.config).items()}
        st.table(frame.plain_table({**config, **options}), border="horizontal")
    with log, st.expander("Log", icon=":material/notes:", key="log"):
        st.fragment(frame.explained(seed_rows.log), run_every=pace)(run, LOG_LINES)
    with st.container(horizontal=True):
        links.link("curves", "Curves", ":material/show_chart:", runs=run.reference)
        links.link("subgraphs", "Subgraphs", ":material/hub:", run=run.reference)
        links.link("tickets", "Tickets", ":material/confirmation_number:", runs=run.reference)
        links.link("compare", "Compare", ":material/compare_arrows:", on=pickers.scores_of(run), one=run.reference)
