"""One run in detail: seeds, training curve and log; and the same of a pre-training."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import alternative, names
from analysis.curves import pretraining_figure
from analysis.curves.training import is_thinned, training_figure
from analysis.tables.epochs import epochs_table
from app.components import charts, controls, frame, run_select, url_state
from app.data.cache import Read, reader_of
from app.data.runs import WAITS, Opened, RunProgress, SeedProgress, opened, starting
from app.views import run_actions
from glt import formats, jobs
from glt.errors import StoreError
from glt.jobs.waiting import awaited
from glt.methods import METHODS
from glt.store import AnyRun, Pretraining, PretrainingSeed, Run, Status
from glt.store.liveness import ACTIVE
from glt.tickets.diagnosis import diagnosis_of

# Of a seed_logs's end, which is far more than the lines that are shown.
MOST_BYTES = 100_000


def seed_row(found: Opened, run: Run, seed: SeedProgress) -> None:
    """Show one seed; a failed one can be tried again alone."""
    line = "seed-done" if seed.state == "done" else "seed-open"
    with st.container(key=f"seed-row-{seed.seed}", gap=None):
        with frame.row(f"{line}-{seed.seed}", "center"):
            st.markdown(f"seed {seed.seed}", width=64)
            with st.container(width=104):
                frame.state_chip(seed.state)
            st.markdown(formats.percent(seed.accuracy) if seed.accuracy is not None else formats.MISSING, width=64)
            st.caption(frame.plain(doing(found, run, seed)), width="stretch")
            if not run.is_example:
                with st.container(width=112):
                    _action(found, run, seed)
        if seed.state != "done":
            st.progress(seed.fraction)
    if seed.error and seed.state in ("failed", "lost"):
        frame.failure(f"Seed {seed.seed}: {seed.error}")


def seed_logs(run: AnyRun, lines: int) -> None:
    """Show the last lines of every seed's log that has any."""
    shown = False
    for seed in run.seeds():
        text = tail(run.seed(seed).log_path, lines)
        if text:
            st.caption(f"seed {seed}")
            st.code(text, language=None, height=180)
            shown = True
    if not shown:
        at_work = any(run.seed(seed).is_at_work() for seed in run.seeds())
        st.caption("Nothing yet: a run that works well writes nothing here." if at_work else "Nothing was written.")


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


def _action(found: Opened, run: Run, seed: SeedProgress) -> None:
    if seed.state in ACTIVE:
        if st.button("Stop", key=f"stop-{run.reference}-{seed.seed}", type="tertiary", icon=":material/stop:"):
            run_actions.stop(run, [seed.seed])
    elif seed.state != "done":
        words = "Try again" if seed.state == "failed" else "Resume"
        if st.button(words, key=f"resume-{run.reference}-{seed.seed}", type="tertiary", icon=":material/refresh:"):
            run_actions.resume(found, run, [seed.seed])


# Who computes is looked for in every run of the store, so only for the first in the line.
MOST_NAMED = 2


class _AtWork(NamedTuple):
    """A seed that computes: how long still (seconds, infinite when not known yet), and whose it is."""

    seconds_left: float
    words: str


def doing(found: Opened, run: AnyRun, seed: SeedProgress) -> str:
    """Say what a seed does, and of one that is queued what it waits for."""
    return _waits_for(found, run, seed.seed) if seed.state == "queued" else seed.doing


def _waits_for(found: Opened, run: AnyRun, seed: int) -> str:
    source = awaited(found.store, run.config, seed) if isinstance(run, Run) else None
    if source is not None:
        return f"waits for {source}"
    place = jobs.place_in_line(found.store.queue_path, run.seed(seed).status().queued_at)
    if place is None:
        return WAITS
    line = f"{WAITS}, place {place} in the line"
    return line if place > MOST_NAMED else f"{line}{_end(sorted(_at_work(found)), place)}"


def _end(at_work: Sequence[_AtWork], place: int) -> str:
    """Say whose core a place in the line will get: the first gets the first that is free, the second the next."""
    if place > len(at_work):
        return ""
    before = at_work[place - 1]
    if math.isinf(before.seconds_left):
        return f"; {before.words} computes"
    return f"; {before.words} ends in {formats.duration(before.seconds_left)}"


def _at_work(found: Opened) -> Iterator[_AtWork]:
    for run in (*found.own, *found.pretrainings):
        for seed in run.seeds():
            status = run.seed(seed).status()
            if status.state == "running":
                left = status.progress.seconds_left if status.progress else None
                yield _AtWork(math.inf if left is None else left, f"{run_select.run_title(run)}, seed {seed},")


SECONDS_BETWEEN_LOOKS = 2
HEIGHT = 300


class _Drawn(NamedTuple):
    """A picture, its numbers, and whether it passes over epochs."""

    figure: go.Figure
    sentence: str
    numbers: pd.DataFrame
    is_thinned: bool


def training_panel(run: Run, live: bool) -> None:
    """Show a run's training curve with its controls in a row above it."""
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
        follow = live and controls.switch(
            "live", "Live", True, help="Off: the picture stands still, so that you can zoom."
        )
    drawn = st.fragment(frame.or_why()(_draw), run_every=SECONDS_BETWEEN_LOOKS if follow else None)
    drawn(run, seed, chosen)


def _draw(run: Run, seed: int, chosen: str) -> None:
    reader = reader_of(run, seed)
    rounds = reader.rounds()
    if not rounds:
        st.caption("No epochs yet.")
        return
    number = rounds[-1] if chosen == "last" else int(chosen)
    read = reader.epochs(number)
    metric = names.metric(run.config.dataset, run.config.task)
    title = f"Loss and {metric} of every epoch of round {number}"
    drawn = _drawn(str(run.seed(seed).path.absolute()), read.stamp, metric, title, frame.is_dark(), read)
    charts.show(drawn.figure, "training", title, drawn.sentence)
    st.caption(
        f"Seed {seed}, round {number}: loss and {metric} after {_which(run, len(read.epochs), drawn.is_thinned)}."
    )
    for sentence in _notes(run, seed, number):
        st.caption(frame.plain(f"{sentence}."))
    charts.numbers(drawn.figure, "training", title, drawn.numbers)


def _notes(run: Run, seed: int, number: int) -> list[str]:
    """Return what is noted about a finished round, or follows from its epochs; nothing of one that is at work."""
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
    """Return what every tab on this round shows of it."""
    table = epochs_table(_read.epochs)
    figure = training_figure(table, metric, dark, HEIGHT)
    return _Drawn(figure, alternative.sentence(figure, title), alternative.table(figure), is_thinned(table))


def _which(run: Run, epochs: int, thinned: bool) -> str:
    if thinned:
        return f"{formats.count(epochs)} epochs, drawn through the lowest and highest of each short stretch of them"
    return "every tenth epoch (examples keep no more)" if run.is_example else "every epoch"


LOG_LINES = 60


def pretraining_progress(run: Pretraining) -> RunProgress:
    """Read where a pre-training stands."""
    return RunProgress(run, tuple(_pretraining_seed(run.seed(seed)) for seed in run.seeds()))


def pretraining_panel(run: Pretraining) -> None:
    """Show one pre-training: its seeds, what can be done about it, the loss of every epoch, settings and log."""
    found = opened()
    if found.absence(run.reference):
        st.rerun()
    now = pretraining_progress(run)
    with frame.row("run-head", "center"):
        st.subheader(frame.plain(run_select.run_title(run)), anchor=False, width="content")
        st.caption(run.reference, width="content")
        st.space("stretch")
        run_actions.annotate(found, run, run_select.subject(run))
        run_actions.run_buttons(found, now)
    run_actions.show_note(run)
    for seed in now.seeds:
        _pretraining_row(found, run, seed)
    _loss(run)
    settings, log = st.columns(2, gap="medium")
    with settings, st.expander("Settings", icon=":material/tune:", key="settings"):
        st.table(frame.plain_table(run.config.model_dump(exclude_none=True)), border="horizontal")
    with log, st.expander("Log", icon=":material/notes:", key="log"):
        seed_logs(run, LOG_LINES)
    with st.container(horizontal=True):
        url_state.link("launch", "Start a run from it", ":material/rocket_launch:", pretraining=run.reference)


def _pretraining_row(found: Opened, run: Pretraining, seed: SeedProgress) -> None:
    with frame.row(f"seed-row-{seed.seed}", "center"):
        st.markdown(f"seed {seed.seed}", width=64)
        with st.container(width=104):
            frame.state_chip(seed.state)
        st.caption(frame.plain(doing(found, run, seed)), width="stretch")
    if seed.state != "done":
        st.progress(seed.fraction)
    if seed.error and seed.state in ("failed", "lost"):
        frame.failure(f"Seed {seed.seed}: {seed.error}")


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
    figure = pretraining_figure(epochs, frame.is_dark())
    title = "Contrastive loss of every epoch of each seed"
    charts.show(figure, "loss", title)
    st.caption("Contrastive loss after every epoch; the first layer of a seed is that of its lowest loss, marked.")
    charts.numbers(figure, "loss", title)


def _pretraining_seed(seed: PretrainingSeed) -> SeedProgress:
    status = seed.status()
    now = status.progress if status.state == "running" else None
    return SeedProgress(
        seed=seed.seed,
        state=status.state,
        fraction=1.0 if status.state == "done" else now.fraction if now else 0.0,
        last_round=None,
        accuracy=None,
        doing=_pretraining_doing(seed, status),
        error=status.error,
    )


def _pretraining_doing(seed: PretrainingSeed, status: Status) -> str:
    if status.state == "done":
        return _result(seed)
    if status.state not in ACTIVE:
        return "starts again when resumed"
    if status.state == "queued":
        return WAITS
    if status.progress is None:
        return starting(status)
    epoch, most = status.progress.epoch, status.progress.epochs
    return f"epoch {formats.count(epoch)} of at most {formats.count(most)}"


def _result(seed: PretrainingSeed) -> str:
    try:
        layer = seed.first_layer()
    except StoreError as error:
        return frame.plain(str(error))
    return f"lowest loss {formats.fixed(layer.loss, 3)} in epoch {formats.count(layer.best_epoch)}"
