"""The list on the Runs page: a card for every run and pre-training, the chosen one marked."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.widgets import controls, frame, look, pickers, pretrainings, run_filter
from app.widgets.opened import Opened
from app.widgets.progress import RunProgress, counts, run_progress
from app.widgets.run_filter import AnyKind
from glt import formats
from glt.store import AnyRun, Pretraining, Run, annotations_of

MOST_CARDS = 20
# Letters of a note that a card shows.
MOST_LETTERS = 90
PAGES = "runs: pages"
NO_BREAK = "\N{NO-BREAK SPACE}"


def own_ones(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Show the user's runs and pre-trainings that the words of the filter fit, hidden ones not."""
    details = pickers.run_details(found.runs)
    own, pretrained = (
        run_filter.matching(_seen(found.own), words),
        run_filter.matching(_seen(found.pretrainings), words),
    )
    if words and not (own or pretrained or run_filter.matching(_seen(found.examples), words)):
        st.caption("No run fits all these words.")
    for run in _first(own, chosen):
        _of_run(run, details[run.reference], chosen)
    if pretrained:
        st.caption("Pre-training: first layers that runs can start from")
    for pretraining in pretrained:
        _of_pretraining(pretraining, chosen)


def examples(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Show the examples that the words fit; nothing of them moves while a page is open."""
    details = pickers.run_details(found.runs)
    fitting = run_filter.matching(_seen(found.examples), words)
    if fitting:
        st.caption("Examples: finished runs that come with the app, read-only")
    for run in fitting:
        _of_run(run, details[run.reference], chosen)


def hidden_ones(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Offer to show the hidden runs that the words fit, at the end of the list."""
    every: tuple[AnyRun, ...] = (*found.own, *found.pretrainings, *found.examples)
    said = annotations_of(every)
    hidden = run_filter.matching([run for run in every if said[run.reference].hidden], words)
    if not hidden or not controls.switch("hidden", f"Show {len(hidden)} hidden"):
        return
    details = pickers.run_details(found.runs)
    for run in hidden[:MOST_CARDS]:
        if isinstance(run, Run):
            _of_run(run, details[run.reference], chosen)
        elif isinstance(run, Pretraining):
            _of_pretraining(run, chosen)


def _seen(runs: Sequence[AnyKind]) -> list[AnyKind]:
    said = annotations_of(runs)
    return [run for run in runs if not said[run.reference].hidden]


def _first(runs: Sequence[Run], chosen: str) -> Sequence[Run]:
    """Return as many runs as are shown at once and the chosen one, with the way to more."""
    shown = MOST_CARDS * st.session_state.setdefault(PAGES, 1)
    if len(runs) <= shown:
        return runs
    st.caption(f"{shown} of {formats.number_of(len(runs), 'run')} that fit")
    if st.button(f"Show {min(MOST_CARDS, len(runs) - shown)} more", key="more-runs", type="tertiary"):
        st.session_state[PAGES] += 1
        st.rerun()
    return [run for place, run in enumerate(runs) if place < shown or run.reference == chosen]


def select(run: AnyRun) -> None:
    """Show another run beside the list from now on."""
    st.session_state["run"] = run.reference
    pickers.let_go("run")()
    st.rerun()


def _of_run(run: Run, details: str, chosen: str) -> None:
    now = run_progress(run)
    if run.annotation.title:
        details = ", ".join(filter(None, [pickers.subject(run), details]))
    _card(now, pickers.run_title(run), details, "damaged" if now.damage else now.newest or "", chosen)


def _of_pretraining(run: Pretraining, chosen: str) -> None:
    title = pickers.subject(run)
    own = run.annotation.title
    _card(pretrainings.progress(run), own or title, title if own else "", "", chosen)


def _card(now: RunProgress, title: str, details: str, told: str, chosen: str) -> None:
    name = now.run.reference
    states = [seed.state for seed in now.seeds]
    seeds = counts(states) if now.is_mixed else formats.number_of(len(states), "seed")
    said = now.run.annotation
    look_of_it = f"{'chosen-' if name == chosen else ''}{f'painted-{said.color}-' if said.color else ''}"
    with st.container(border=True, key=f"card-{look_of_it}{name}", gap=None):
        if st.button(f"**{frame.plain(title)}**", key=f"open-{name}", type="tertiary"):
            select(now.run)
        if details:
            st.caption(frame.plain(details))
        if said.note:
            st.caption(f":material/notes: {frame.plain(_first_words(said.note))}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"states-of-{name}"):
            look.state_chip(now.state)
            words = f"{seeds} · {told}" if told else seeds
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
