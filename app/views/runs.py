"""Runs: active and finished runs, and one of them in detail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from analysis import names, palette
from app.components import controls, frame, run_select, url_state
from app.components.run_select import AnyKind
from app.data.runs import Opened, RunProgress, any_active, counts, opened, run_progress
from app.views import run_actions, run_detail
from glt import formats, jobs
from glt.presets import all_options
from glt.store import AnyRun, Pretraining, Run, annotations_of

SECONDS_BETWEEN_LOOKS = 2
# A page on which nothing moves: for a run that is started elsewhere.
SECONDS_BETWEEN_GLANCES = 5
LOG_LINES = 60


def page() -> None:
    """Show the page."""
    with frame.page("Runs", "What is at work, what is finished, and how far each seed has come."):
        found = opened()
        run_actions.say_annotations_damaged(found)
        live = any_active((*found.own, *found.pretrainings))
        pace = SECONDS_BETWEEN_LOOKS if live else None
        if not found.runs and not found.pretrainings:
            run_select.tell_none_left("run")
            run_actions.damaged_folders(found)
            frame.empty("No runs yet", f"The store {found.store.root} is empty.", "list_alt", "launch", "Launch a run")
            if found.store.trashed():
                run_actions.store_line(found)
            return
        listing, detail = st.columns([1, 2.3], gap="medium")
        if not live:
            st.fragment(frame.or_why()(_wake), run_every=SECONDS_BETWEEN_GLANCES)(found.store.queue_path)
        with listing:
            words = run_select.pick_filter(len(found.runs) + len(found.pretrainings))
            st.fragment(frame.or_why()(_list), run_every=pace)(live, words)
            example_cards(found, _chosen(found), words)
            run_actions.damaged_folders(found)
            hidden_cards(found, _chosen(found), words)
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
    own_cards(found, _chosen(found), words)


def _detail(chosen: AnyRun | None, live: bool, pace: int | None) -> None:
    if chosen is None:
        run_select.tell_gone("run")
        st.caption("The runs that are here stand in the list: choose one of them.")
    if isinstance(chosen, Pretraining):
        st.fragment(frame.or_why()(run_detail.pretraining_panel), run_every=pace)(chosen)
    if isinstance(chosen, Run):
        st.fragment(frame.or_why()(_seeds), run_every=pace)(chosen)
        run_detail.training_panel(chosen, live)
        _settings(chosen, pace)
        frame.results_note([chosen])


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


def _seeds(run: Run) -> None:
    """Show the run's seeds and what can be done about them, as they are now."""
    found = opened()
    if found.absence(run.reference):
        st.rerun()
    run = found.find(run.reference)
    progress = run_progress(run)
    with frame.row("run-head", "center"):
        about = f"{palette.label(run.config.method)} on {names.dataset(run.config.dataset)}"
        st.subheader(frame.plain(run.annotation.title or about), anchor=False, width="content")
        st.caption(run.reference, width="content")
        st.space("stretch")
        run_actions.annotate(found, run, about)
        run_actions.run_buttons(found, progress)
    run_actions.show_note(run)
    if progress.damage:
        frame.failure(progress.damage)
        if not run.is_example:
            run_actions.offer_repair(found, run.path)
    for seed in progress.seeds:
        run_detail.seed_row(found, run, seed)


def _settings(run: Run, pace: int | None) -> None:
    settings, log = st.columns(2, gap="medium")
    with settings, st.expander("Settings", icon=":material/tune:", key="settings"):
        config = run.config.model_dump(exclude={"options"})
        options = {name: "not set" if value is None else value for name, value in all_options(run.config).items()}
        st.table(frame.plain_table({**config, **options}), border="horizontal")
    with log, st.expander("Log", icon=":material/notes:", key="log"):
        st.fragment(frame.or_why()(run_detail.seed_logs), run_every=pace)(run, LOG_LINES)
    with st.container(horizontal=True):
        url_state.link("curves", "Curves", ":material/show_chart:", runs=run.reference)
        url_state.link("subgraphs", "Subgraphs", ":material/hub:", run=run.reference)
        url_state.link("tickets", "Tickets", ":material/confirmation_number:", runs=run.reference)
        url_state.link(
            "compare", "Compare", ":material/compare_arrows:", on=run_select.scores_of(run), one=run.reference
        )


MOST_CARDS = 20
# Letters of a note that a card shows.
MOST_LETTERS = 90
PAGES = "runs: pages"
NO_BREAK = "\N{NO-BREAK SPACE}"


def own_cards(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Show the user's runs and pre-trainings that the words of the filter fit, hidden ones not."""
    details = run_select.run_details(found.runs)
    own, pretrained = (
        run_select.matching(_seen(found.own), words),
        run_select.matching(_seen(found.pretrainings), words),
    )
    if words and not (own or pretrained or run_select.matching(_seen(found.examples), words)):
        st.caption("No run fits all these words.")
    for run in _first(own, chosen):
        _of_run(run, details[run.reference], chosen)
    if pretrained:
        st.caption("Pre-training: first layers that runs can start from")
    for pretraining in pretrained:
        _of_pretraining(pretraining, chosen)


def example_cards(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Show the example_cards that the words fit; nothing of them moves while a page is open."""
    details = run_select.run_details(found.runs)
    fitting = run_select.matching(_seen(found.examples), words)
    if fitting:
        st.caption("Examples: finished runs that come with the app, read-only")
    for run in fitting:
        _of_run(run, details[run.reference], chosen)


def hidden_cards(found: Opened, chosen: str, words: Sequence[str]) -> None:
    """Offer to show the hidden runs that the words fit, at the end of the list."""
    every: tuple[AnyRun, ...] = (*found.own, *found.pretrainings, *found.examples)
    said = annotations_of(every)
    hidden = run_select.matching([run for run in every if said[run.reference].hidden], words)
    if not hidden or not controls.switch("hidden", f"Show {len(hidden)} hidden"):
        return
    details = run_select.run_details(found.runs)
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
    run_select.let_go("run")()
    st.rerun()


def _of_run(run: Run, details: str, chosen: str) -> None:
    now = run_progress(run)
    if run.annotation.title:
        details = ", ".join(filter(None, [run_select.subject(run), details]))
    _card(now, run_select.run_title(run), details, "damaged" if now.damage else now.newest or "", chosen)


def _of_pretraining(run: Pretraining, chosen: str) -> None:
    title = run_select.subject(run)
    own = run.annotation.title
    _card(run_detail.pretraining_progress(run), own or title, title if own else "", "", chosen)


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
        with frame.row(f"states-of-{name}", "center"):
            frame.state_chip(now.state)
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
