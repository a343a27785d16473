"""One run in detail: seeds, training curve and log; and the same of a pre-training."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import alt_text
from analysis.drawing import screen
from analysis.figures.pretraining import pretraining_curves
from analysis.figures.training import is_thinned, training_curves
from analysis.labels import dataset_label, metric_label
from analysis.style import palette
from analysis.tables.rounds import epochs_table
from app.components import charts, controls, frame, run_select, url_state
from app.data.cache import Read, reader_of
from app.data.runs import WAITS, Opened, SeedProgress, opened, run_progress
from app.views import run_actions
from glt import formats, jobs
from glt.errors import StoreError
from glt.jobs.dependencies import awaited
from glt.lottery.diagnosis import diagnosis_of
from glt.methods import METHODS
from glt.presets import all_options
from glt.store import AnyRun, Pretraining, Run
from glt.store.locks import ACTIVE

SECONDS_BETWEEN_LOOKS = 2
# More than the lines of a log that are shown take.
MOST_BYTES, LOG_LINES = 100_000, 60
# Only the first in the queue are told whose core they get: that takes a look at every run of the store.
MOST_NAMED = 2
HEIGHT = 300


def show(run: AnyRun, live: bool) -> None:
    """Show a run or pre-training: its state, actions, training curve, settings and log."""
    pace = SECONDS_BETWEEN_LOOKS if live else None
    if isinstance(run, Pretraining):
        st.fragment(frame.or_why()(_pretraining), run_every=pace)(run)
    elif isinstance(run, Run):
        st.fragment(frame.or_why()(_state), run_every=pace)(run)
        _training(run, live)
        values = {**run.config.model_dump(exclude={"options"}), **all_options(run.config)}
        with _settings_beside_log({name: "not set" if value is None else value for name, value in values.items()}):
            st.fragment(frame.or_why()(seed_logs), run_every=pace)(run, LOG_LINES)
        with st.container(horizontal=True):
            url_state.link("curves", "Curves", ":material/show_chart:", runs=run.reference)
            url_state.link("subgraphs", "Subgraphs", ":material/hub:", run=run.reference)
            url_state.link("tickets", "Tickets", ":material/confirmation_number:", runs=run.reference)
            on = run_select.scores_of(run)
            url_state.link("compare", "Compare", ":material/compare_arrows:", on=on, one=run.reference)
        frame.results_note([run])


def _pretraining(run: Pretraining) -> None:
    _state(run)
    _loss(run)
    with _settings_beside_log(run.config.model_dump(exclude_none=True)):
        seed_logs(run, LOG_LINES)
    with st.container(horizontal=True):
        url_state.link("launch", "Start a run from it", ":material/rocket_launch:", pretraining=run.reference)


def _state(run: AnyRun) -> None:
    """Show title, actions, note and seeds, as they are now."""
    found = opened()
    if found.absence(run.reference):
        st.rerun()
    about = run_select.subject(run)
    if isinstance(run, Run):
        run = found.find(run.reference)
        about = f"{palette.label(run.config.method)} on {dataset_label(run.config.dataset)}"
    progress = run_progress(run)
    with frame.row("run-head", "center"):
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
        _seed_row(found, run, seed)


def _seed_row(found: Opened, run: AnyRun, seed: SeedProgress) -> None:
    """Show one seed; a failed one of a run can be tried again alone."""
    line = "seed-done" if seed.state == "done" else "seed-open"
    with st.container(key=f"seed-row-{seed.seed}", gap=None):
        with frame.row(f"{line}-{seed.seed}", "center"):
            st.markdown(f"seed {seed.seed}", width=64)
            with st.container(width=104):
                frame.state_chip(seed.state)
            if isinstance(run, Run):
                st.markdown(formats.percent(seed.accuracy) if seed.accuracy is not None else formats.MISSING, width=64)
            doing = _queue_words(found, run, seed.seed) if seed.state == "queued" else seed.doing
            st.caption(frame.plain(doing), width="stretch")
            if isinstance(run, Run) and not run.is_example:
                with st.container(width=112):
                    _seed_action(found, run, seed)
        if seed.state != "done":
            st.progress(seed.fraction)
    if seed.error and seed.state in ("failed", "lost"):
        frame.failure(f"Seed {seed.seed}: {seed.error}")


def _seed_action(found: Opened, run: Run, seed: SeedProgress) -> None:
    if seed.state in ACTIVE:
        if st.button("Stop", key=f"stop-{run.reference}-{seed.seed}", type="tertiary", icon=":material/stop:"):
            run_actions.stop(run, [seed.seed])
    elif seed.state != "done":
        words = "Try again" if seed.state == "failed" else "Resume"
        if st.button(words, key=f"resume-{run.reference}-{seed.seed}", type="tertiary", icon=":material/refresh:"):
            run_actions.resume(found, run, [seed.seed])


def _queue_words(found: Opened, run: AnyRun, seed: int) -> str:
    """Say what a queued seed waits for: another run, or its place in the queue and whose core it gets."""
    source = awaited(found.store, run.config, seed) if isinstance(run, Run) else None
    if source is not None:
        return f"waits for {source}"
    place = jobs.place_in_line(found.store.queue_path, run.seed(seed).status().queued_at)
    if place is None:
        return WAITS
    words = f"{WAITS}, place {place} in the line"
    if place > MOST_NAMED or place > len(at_work := sorted(_at_work(found))):
        return words
    seconds, whose = at_work[place - 1]
    return f"{words}; {whose} " + ("computes" if math.isinf(seconds) else f"ends in {formats.duration(seconds)}")


def _at_work(found: Opened) -> Iterator[tuple[float, str]]:
    """Yield of every seed that computes the seconds left, infinite when unknown, and its name."""
    for run in (*found.own, *found.pretrainings):
        for seed in run.seeds():
            status = run.seed(seed).status()
            if status.state == "running":
                left = status.progress.seconds_left if status.progress else None
                yield math.inf if left is None else left, f"{run_select.run_title(run)}, seed {seed},"


def _settings_beside_log(settings: Mapping[str, object]) -> AbstractContextManager[object]:
    """Show settings folded and return the folded place for a log beside them."""
    left, right = st.columns(2, gap="medium")
    with left, st.expander("Settings", icon=":material/tune:", key="settings"):
        st.table(frame.plain_table(settings), border="horizontal")
    return right.expander("Log", icon=":material/notes:", key="log")


def seed_logs(run: AnyRun, lines: int) -> None:
    """Show the last lines of every seed's log that has any."""
    texts = {seed: text for seed in run.seeds() if (text := tail(run.seed(seed).log_path, lines))}
    for seed, text in texts.items():
        st.caption(f"seed {seed}")
        st.code(text, language=None, height=180)
    if not texts:
        at_work = any(run.seed(seed).is_at_work() for seed in run.seeds())
        st.caption("Nothing yet: only problems are written here." if at_work else "Nothing was written.")


def tail(path: Path, lines: int) -> str:
    """Return the last lines of a text file, "" when there is none or it is no plain file; a long one from its end."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - MOST_BYTES, 0))
        content = file.read(MOST_BYTES).decode(errors="replace")
    kept = content.splitlines(keepends=True)
    # The first one may be the end of a line.
    whole = kept if size <= MOST_BYTES else kept[1:]
    return "".join((whole or kept)[-lines:])


class _Drawn(NamedTuple):
    """A training curve, its numbers, and whether it omits epochs."""

    figure: go.Figure
    sentence: str
    numbers: pd.DataFrame
    is_thinned: bool


def _training(run: Run, live: bool) -> None:
    """Show the training curve of a seed and round."""
    seeds = run.seeds()
    if not seeds:
        return
    with frame.row("training-controls", "center"):
        st.subheader("Training", anchor=False, width="content")
        st.space("stretch")
        seed = int(controls.select("seed", "Seed", {str(seed): str(seed) for seed in seeds}, width=100))
        try:
            rounds = reversed(reader_of(run, seed).rounds())
        except StoreError as error:
            frame.failure(str(error))
            return
        words = {"last": "last", **{str(number): str(number) for number in rounds}}
        chosen = controls.select("training_round", "Round", words, "last", width=100)
        about = "Off: the picture stands still, so that you can zoom."
        follow = live and controls.switch("live", "Live", True, help=about)
    draw = st.fragment(frame.or_why()(_draw), run_every=SECONDS_BETWEEN_LOOKS if follow else None)
    draw(run, seed, chosen)


def _draw(run: Run, seed: int, chosen: str) -> None:
    reader = reader_of(run, seed)
    rounds = reader.rounds()
    if not rounds:
        st.caption("No epochs yet.")
        return
    number = rounds[-1] if chosen == "last" else int(chosen)
    read = reader.epochs(number)
    metric = metric_label(run.config.dataset, run.config.task)
    title = f"Loss and {metric} of every epoch of round {number}"
    drawn = _drawn(str(run.seed(seed).path.absolute()), read.stamp, metric, title, frame.is_dark(), read)
    charts.show(drawn.figure, "training", title, drawn.sentence)
    which = _which(run, len(read.epochs), drawn.is_thinned)
    st.caption(f"Seed {seed}, round {number}: loss and {metric} after {which}.")
    for sentence in _notes(run, seed, number):
        st.caption(frame.plain(f"{sentence}."))
    charts.numbers(drawn.figure, "training", title, drawn.numbers)


def _notes(run: Run, seed: int, number: int) -> list[str]:
    """Return the notes and diagnostics of a finished round."""
    seed_run = run.seed(seed)
    try:
        records = seed_run.rounds()
    except StoreError:
        # The seed's row on the same page says what is damaged.
        return []
    if number >= len(records):
        return []
    told = METHODS.get(run.config.method).note_words(records[number].notes)
    return [*([told] if told else []), *diagnosis_of(seed_run, records[number]).words()]


@st.cache_resource(max_entries=16, show_spinner=False)
def _drawn(path: str, stamp: tuple[int, int, bytes], metric: str, title: str, dark: bool, _read: Read) -> _Drawn:
    """Return the training curve of a round, the same for every tab."""
    table = epochs_table(_read.epochs)
    figure = screen.draw(training_curves(table, metric, HEIGHT), dark)
    return _Drawn(figure, alt_text.sentence(figure, title), alt_text.table(figure), is_thinned(table))


def _which(run: Run, epochs: int, thinned: bool) -> str:
    if thinned:
        return f"{formats.count(epochs)} epochs, drawn through the minimum and maximum of each short interval"
    return "every tenth epoch (examples keep no more)" if run.is_example else "every epoch"


def _loss(run: Pretraining) -> None:
    try:
        epochs = {seed: run.seed(seed).epochs()[0] for seed in run.seeds()}
    except StoreError as error:
        frame.failure(str(error))
        return
    if not any(epochs.values()):
        st.caption("No epochs yet.")
        return
    st.subheader("Training", anchor=False)
    figure = screen.draw(pretraining_curves(epochs), frame.is_dark())
    title = "Contrastive loss of every epoch of each seed"
    charts.show(figure, "loss", title)
    st.caption("Contrastive loss after every epoch; the first layer of a seed is that of its lowest loss, marked.")
    charts.numbers(figure, "loss", title)
