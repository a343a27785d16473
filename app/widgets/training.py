"""The training curve of one seed and round, drawn again only when new epochs came."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import streamlit as st

from analysis import names
from analysis.curves.training import training_figure
from app.widgets import chart, controls, frame, look
from glt.errors import StoreError
from glt.store import Event, Run, SeedRun

SECONDS_BETWEEN_LOOKS = 2
HEIGHT = 300


class Reader:
    """All events of one seed, read on from where the last look ended; shared by every tab."""

    def __init__(self, seed_run: SeedRun) -> None:
        self._seed_run = seed_run
        self._offset = 0
        self._events: dict[tuple[int, str, int], Event] = {}
        self._lock = threading.Lock()

    def events(self) -> list[Event]:
        """Return the events so far; an epoch that was computed anew after a resume stands once."""
        with self._lock:
            new, self._offset = self._seed_run.events(self._offset)
            self._events.update({(event.round, event.stage, event.epoch): event for event in new})
            return list(self._events.values())


@st.cache_resource(max_entries=64, show_spinner=False)
def reader(path: str, _seed_run: SeedRun) -> Reader:
    """Return the one reader of a seed's events."""
    return Reader(_seed_run)


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
            rounds = sorted({event.round for event in _events(run, seed)}, reverse=True)
        except StoreError as error:
            frame.failure(str(error))
            return
        words = {"last": "last", **{str(number): str(number) for number in rounds}}
        chosen = controls.select("training_round", "Round", words, "last", width=100)
        follow = live and controls.switch(
            "live", "Live", True, help="Off: the picture stands still, so that you can zoom."
        )
    drawn = st.fragment(_draw, run_every=SECONDS_BETWEEN_LOOKS if follow else None)
    drawn(run, seed, chosen)


def _draw(run: Run, seed: int, chosen: str) -> None:
    events = _events(run, seed)
    if not events:
        st.caption("No epochs yet.")
        return
    number = events[-1].round if chosen == "last" else int(chosen)
    shown: Sequence[Event] = [event for event in events if event.round == number]
    metric = names.metric(run.config.dataset, run.config.task)
    figure = training_figure(shown, metric, look.is_dark(), HEIGHT)
    title = f"Loss and {metric} of every epoch of round {number}"
    chart.show(figure, "training", title)
    st.caption(f"Seed {seed}, round {number}: loss and {metric} after {_which(run)}.")
    chart.numbers(figure, "training", title)


def _which(run: Run) -> str:
    return "every tenth epoch (examples keep no more)" if run.is_example else "every epoch"


def _events(run: Run, seed: int) -> list[Event]:
    seed_run = run.seed(seed)
    return reader(str(seed_run.path.absolute()), seed_run).events()
