"""The training curve of one seed and round, drawn again only when new epochs came."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import alternative, names
from analysis.curves.training import is_thinned, training_figure
from analysis.tables.epochs import epochs_table
from app.widgets import chart, controls, frame, look
from app.widgets.epoch_reader import Read, reader_of
from glt import formats
from glt.errors import StoreError
from glt.methods import METHODS
from glt.store import Run
from glt.tickets.diagnosis import diagnosis_of

SECONDS_BETWEEN_LOOKS = 2
HEIGHT = 300


class _Drawn(NamedTuple):
    """A picture, its numbers, and whether it passes over epochs."""

    figure: go.Figure
    sentence: str
    numbers: pd.DataFrame
    is_thinned: bool


def panel(run: Run, live: bool) -> None:
    """Show a run's training curve with its controls in a row above it."""
    seeds = run.seeds()
    if not seeds:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="training-controls"):
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
    drawn = st.fragment(frame.explained(_draw), run_every=SECONDS_BETWEEN_LOOKS if follow else None)
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
    drawn = _drawn(str(run.seed(seed).path.absolute()), read.stamp, metric, title, look.is_dark(), read)
    chart.show(drawn.figure, "training", title, drawn.sentence)
    st.caption(
        f"Seed {seed}, round {number}: loss and {metric} after {_which(run, len(read.epochs), drawn.is_thinned)}."
    )
    for sentence in _notes(run, seed, number):
        st.caption(frame.plain(f"{sentence}."))
    chart.numbers(drawn.figure, "training", title, drawn.numbers)


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
