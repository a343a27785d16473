"""Runs: active and finished runs, and one of them in detail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from app.components import controls, frame, run_select, url_state
from app.components.run_select import AnyKind
from app.data.runs import Catalog, any_active, counts, open_catalog, run_progress
from app.views import run_detail
from app.views.run_detail import damaged_folders, store_line
from glt import formats, jobs
from glt.store import AnyRun, annotations_of

# While nothing runs: another page or a terminal may start a run.
SECONDS_BETWEEN_GLANCES = 5
MOST_CARDS = 20


def page() -> None:
    """Show the page."""
    with frame.page("Runs", "Active and finished runs, and the progress of every seed."):
        catalog = open_catalog()
        if damage := catalog.store.annotations().damage:
            st.warning(frame.plain(damage), icon=":material/warning:")
        live = any_active((*catalog.own, *catalog.pretrainings))
        pace = run_detail.SECONDS_BETWEEN_LOOKS if live else None
        if not catalog.runs and not catalog.pretrainings:
            run_select.gone_from("run", ())
            run_select.tell_gone("run")
            damaged_folders(catalog)
            frame.empty(
                "No runs yet", f"The store {catalog.store.root} is empty.", "list_alt", "launch", "Launch a run"
            )
            if catalog.store.trashed():
                store_line(catalog)
            return
        listing, detail = st.columns([1, 2.3], gap="medium")
        if not live:
            st.fragment(frame.or_why()(_wake), run_every=SECONDS_BETWEEN_GLANCES)(catalog.store.queue_path)
        with listing:
            words = run_select.pick_filter(len(catalog.runs) + len(catalog.pretrainings))
            st.fragment(frame.or_why()(_list), run_every=pace)(live, words)
            # Examples never change while a page is open.
            if fitting := run_select.matching(_seen(catalog.examples), words):
                st.caption("Examples: finished runs included with the app, read-only")
                _cards(catalog, fitting)
            damaged_folders(catalog)
            every: tuple[AnyRun, ...] = (*catalog.own, *catalog.pretrainings, *catalog.examples)
            annotations = annotations_of(every)
            hidden = run_select.matching([run for run in every if annotations[run.reference].hidden], words)
            if hidden and controls.switch("hidden", f"Show {len(hidden)} hidden"):
                _cards(catalog, hidden[:MOST_CARDS])
        with detail:
            if chosen := _selected(catalog):
                run_detail.show(chosen, live)
            else:
                run_select.tell_gone("run")
                st.caption("Choose a run from the list.")
        store_line(catalog)


def _wake(queue: Path) -> None:
    """Rerun the page once another page or a terminal has started a run."""
    if jobs.is_busy(queue):
        catalog = open_catalog()
        if any_active((*catalog.own, *catalog.pretrainings)):
            st.rerun()


def _list(was_live: bool, words: Sequence[str]) -> None:
    """Show the cards of the user's runs; rerun the page when all have ended."""
    catalog = open_catalog()
    if was_live and not any_active((*catalog.own, *catalog.pretrainings)):
        st.rerun()
    _own_cards(catalog, words)


def _selected(catalog: Catalog) -> AnyRun | None:
    """Return the run or pre-training of the address, else the first one.

    None if the one chosen before no longer exists.
    """
    known: dict[str, AnyRun] = {run.reference: run for run in (*catalog.runs, *catalog.pretrainings)}
    if gone := run_select.gone_from("run", known):
        url_state.start("run")
        url_state.keep("run", gone[:1])
        return None
    given = controls.started("run", known)
    reference = (given[0] if given else "") if given is not None else st.session_state["run"]
    controls.tell_unknown("run", "Run", known)
    chosen = known.get(reference, next(iter(known.values())))
    st.session_state["run"] = chosen.reference
    url_state.keep("run", [chosen.reference])
    return chosen


# Letters of a note on a card.
MOST_LETTERS = 90
PAGES = "runs: pages"


def _own_cards(catalog: Catalog, words: Sequence[str]) -> None:
    """Show the user's runs and pre-trainings that match, except hidden ones."""
    own, pretrained, examples = (
        run_select.matching(_seen(runs), words) for runs in (catalog.own, catalog.pretrainings, catalog.examples)
    )
    if words and not (own or pretrained or examples):
        st.caption("No run matches all these words.")
    _cards(catalog, _first(catalog, own))
    if pretrained:
        st.caption("Pre-trainings: first layers for the initial weights of runs")
    _cards(catalog, pretrained)


def _seen(runs: Sequence[AnyKind]) -> list[AnyKind]:
    annotations = annotations_of(runs)
    return [run for run in runs if not annotations[run.reference].hidden]


def _first(catalog: Catalog, runs: Sequence[AnyRun]) -> Sequence[AnyRun]:
    """Return the first runs and the chosen one; show a button for more."""
    shown = MOST_CARDS * st.session_state.setdefault(PAGES, 1)
    if len(runs) <= shown:
        return runs
    st.caption(f"{shown} of {formats.number_of(len(runs), 'matching run')}")
    if st.button(f"Show {min(MOST_CARDS, len(runs) - shown)} more", key="more-runs", type="tertiary"):
        st.session_state[PAGES] += 1
        st.rerun()
    chosen = "" if (selected := _selected(catalog)) is None else selected.reference
    return [run for place, run in enumerate(runs) if place < shown or run.reference == chosen]


def _cards(catalog: Catalog, runs: Sequence[AnyRun]) -> None:
    details, chosen = run_select.run_details(catalog.runs), _selected(catalog)
    for run in runs:
        is_chosen = chosen is not None and run.reference == chosen.reference
        _card(run, details.get(run.reference, ""), is_chosen)


def _card(run: AnyRun, details: str, is_chosen: bool) -> None:
    now, annotation, name = run_progress(run), run.annotation, run.reference
    subject = run_select.subject(run)
    if annotation.title:
        details = ", ".join(filter(None, [subject, details]))
    states = [seed.state for seed in now.seeds]
    look = f"{'chosen-' if is_chosen else ''}{f'painted-{annotation.color}-' if annotation.color else ''}"
    with st.container(border=True, key=f"card-{look}{name}", gap=None):
        if st.button(f"**{frame.plain(annotation.title or subject)}**", key=f"open-{name}", type="tertiary"):
            st.session_state["run"] = name
            run_select.let_go("run")()
            st.rerun()
        if details:
            st.caption(frame.plain(details))
        if annotation.note:
            note = " ".join(annotation.note.split())
            shown = note if len(note) <= MOST_LETTERS else f"{note[: MOST_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
            st.caption(f":material/notes: {frame.plain(shown)}")
        with frame.row(f"states-of-{name}", "center"):
            frame.state_chip(now.state)
            seeds = counts(states) if now.is_mixed else formats.number_of(len(states), "seed")
            words = " · ".join(filter(None, [seeds, "damaged" if now.damage else now.newest]))
            st.caption(words.replace(" %", f"{formats.NO_BREAK}%"), width="content")
        if now.is_active:
            st.progress(now.fraction)
