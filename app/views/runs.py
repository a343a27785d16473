"""Runs: active and finished runs, and one of them in detail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from app.components import controls, frame, run_select, url_state
from app.components.run_select import AnyKind
from app.data.runs import Opened, any_active, counts, opened, run_progress
from app.views import run_detail
from app.views.run_detail import damaged_folders, say_annotations_damaged, store_line
from glt import formats, jobs
from glt.store import AnyRun, annotations_of

SECONDS_BETWEEN_LOOKS = 2
# A page on which nothing moves: for a run that is started elsewhere.
SECONDS_BETWEEN_GLANCES = 5


def page() -> None:
    """Show the page."""
    with frame.page("Runs", "Active and finished runs, and the progress of every seed."):
        found = opened()
        say_annotations_damaged(found)
        live = any_active((*found.own, *found.pretrainings))
        pace = SECONDS_BETWEEN_LOOKS if live else None
        if not found.runs and not found.pretrainings:
            run_select.tell_none_left("run")
            damaged_folders(found)
            frame.empty("No runs yet", f"The store {found.store.root} is empty.", "list_alt", "launch", "Launch a run")
            if found.store.trashed():
                store_line(found)
            return
        listing, detail = st.columns([1, 2.3], gap="medium")
        if not live:
            st.fragment(frame.or_why()(_wake), run_every=SECONDS_BETWEEN_GLANCES)(found.store.queue_path)
        with listing:
            words = run_select.pick_filter(len(found.runs) + len(found.pretrainings))
            st.fragment(frame.or_why()(_list), run_every=pace)(live, words)
            example_cards(found, _chosen(found), words)
            damaged_folders(found)
            hidden_cards(found, _chosen(found), words)
        with detail:
            if chosen := _selected(found):
                run_detail.show(chosen, live)
            else:
                run_select.tell_gone("run")
                st.caption("Choose a run from the list.")
        store_line(found)


def _wake(queue: Path) -> None:
    """Rerun the page, live, once something is at work that another page or a terminal started."""
    if jobs.is_busy(queue):
        found = opened()
        if any_active((*found.own, *found.pretrainings)):
            st.rerun()


def _list(was_live: bool, words: Sequence[str]) -> None:
    """Show the cards of the user's runs; rerun the page when nothing is at work any more."""
    found = opened()
    if was_live and not any_active((*found.own, *found.pretrainings)):
        st.rerun()
    own_cards(found, _chosen(found), words)


def _chosen(found: Opened) -> str:
    """Return the reference of the selected run, "" where it is gone."""
    chosen = _selected(found)
    return "" if chosen is None else chosen.reference


def _selected(found: Opened) -> AnyRun | None:
    """Return the run or pre-training the address names, else the first one; None where the one chosen is gone."""
    known: dict[str, AnyRun] = {run.reference: run for run in (*found.runs, *found.pretrainings)}
    if gone := run_select.gone_from("run", known):
        url_state.start("run")
        url_state.keep("run", gone[:1])
        return None
    given = controls.started("run", known)
    wanted = (given[0] if given else "") if given is not None else st.session_state["run"]
    controls.tell_unknown("run", "run", list(known))
    chosen = known.get(wanted, next(iter(known.values())))
    st.session_state["run"] = chosen.reference
    url_state.keep("run", [chosen.reference])
    return chosen


MOST_CARDS = 20
# Letters of a note that a card shows.
MOST_LETTERS = 90
PAGES = "runs: pages"
NO_BREAK = "\N{NO-BREAK SPACE}"


def own_cards(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Show the user's runs and pre-trainings that fit the filter, except hidden ones."""
    own, pretrained, examples = (
        run_select.matching(_seen(runs), words) for runs in (found.own, found.pretrainings, found.examples)
    )
    if words and not (own or pretrained or examples):
        st.caption("No run fits all these words.")
    _cards(found, _first(own, chosen), chosen)
    if pretrained:
        st.caption("Pre-training: first layers that runs can start from")
    _cards(found, pretrained, chosen)


def example_cards(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Show the examples that fit the filter; they never change while a page is open."""
    if fitting := run_select.matching(_seen(found.examples), words):
        st.caption("Examples: finished runs that come with the app, read-only")
        _cards(found, fitting, chosen)


def hidden_cards(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Offer to show the hidden runs that fit the filter, at the end of the list."""
    every: tuple[AnyRun, ...] = (*found.own, *found.pretrainings, *found.examples)
    said = annotations_of(every)
    hidden = run_select.matching([run for run in every if said[run.reference].hidden], words)
    if hidden and controls.switch("hidden", f"Show {len(hidden)} hidden"):
        _cards(found, hidden[:MOST_CARDS], chosen)


def _seen(runs: Sequence[AnyKind]) -> list[AnyKind]:
    said = annotations_of(runs)
    return [run for run in runs if not said[run.reference].hidden]


def _first(runs: Sequence[AnyRun], chosen: str) -> Sequence[AnyRun]:
    """Return as many runs as are shown at once and the chosen one, with a button for more."""
    shown = MOST_CARDS * st.session_state.setdefault(PAGES, 1)
    if len(runs) <= shown:
        return runs
    st.caption(f"{shown} of {formats.number_of(len(runs), 'run')} that fit")
    if st.button(f"Show {min(MOST_CARDS, len(runs) - shown)} more", key="more-runs", type="tertiary"):
        st.session_state[PAGES] += 1
        st.rerun()
    return [run for place, run in enumerate(runs) if place < shown or run.reference == chosen]


def _cards(found: Opened, runs: Sequence[AnyRun], chosen: str) -> None:
    details = run_select.run_details(found.runs)
    for run in runs:
        _card(run, details.get(run.reference, ""), run.reference == chosen)


def _card(run: AnyRun, details: str, is_chosen: bool) -> None:
    now, said, name = run_progress(run), run.annotation, run.reference
    subject = run_select.subject(run)
    if said.title:
        details = ", ".join(filter(None, [subject, details]))
    states = [seed.state for seed in now.seeds]
    look = f"{'chosen-' if is_chosen else ''}{f'painted-{said.color}-' if said.color else ''}"
    with st.container(border=True, key=f"card-{look}{name}", gap=None):
        if st.button(f"**{frame.plain(said.title or subject)}**", key=f"open-{name}", type="tertiary"):
            st.session_state["run"] = name
            run_select.let_go("run")()
            st.rerun()
        if details:
            st.caption(frame.plain(details))
        if said.note:
            st.caption(f":material/notes: {frame.plain(_first_words(said.note))}")
        with frame.row(f"states-of-{name}", "center"):
            frame.state_chip(now.state)
            seeds = counts(states) if now.is_mixed else formats.number_of(len(states), "seed")
            words = " · ".join(filter(None, [seeds, "damaged" if now.damage else now.newest]))
            st.caption(words.replace(" %", f"{NO_BREAK}%"), width="content")
        if now.is_active:
            st.progress(now.fraction)


def _first_words(note: str) -> str:
    r"""Return the beginning of a note, on one line.

    >>> _first_words("one\ntwo"), len(_first_words("long " * 40))
    ('one two', 90)
    """
    line = " ".join(note.split())
    return line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
