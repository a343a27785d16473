"""Cached readers: a run is read again only when its files have changed, whichever tab asks."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from analysis.cuts import Closeness, Decision, Way, decisions_of, removal_causes, removal_rounds, score_figure
from analysis.tables import Score, XAxis, curve_table, diagnosis_table, rounds_table, tickets_table
from app.components import frame
from app.data.runs import Opened
from glt.config import RunConfig
from glt.data import Graph
from glt.jobs.forecast import Forecast, forecast
from glt.masks import EdgeMask
from glt.store import NO_EPOCHS, Epochs, MacConvention, Run, SeedRun
from glt.tickets.graph import graph_of

# A seed from before rounds noted it takes a tenth of a second; of more seeds only what they noted is read.
MOST_DERIVED = 100
Stamp = tuple[tuple[str | int, ...], ...]


def stamps(runs: Sequence[Run]) -> tuple[Stamp, ...]:
    """Return the stamps of several runs."""
    return tuple(stamp(run) for run in runs)


def stamp(run: Run) -> Stamp:
    """Return what changes whenever a round of the run is written, or its title or colour is changed."""
    said = run.annotation
    return (*_written(run), (said.title, said.color))


def _written(run: Run) -> Stamp:
    """Return size and time of every seed's table of rounds."""
    return tuple((str(run.path), seed, *run.seed(seed).rounds_stamp()) for seed in run.seeds())


def rounds_of(runs: Sequence[Run]) -> pd.DataFrame:
    """Return `rounds_table` of the runs, from the cache while no file has changed."""
    return _rounds(stamps(runs), list(runs))


@st.cache_data(max_entries=32, show_spinner=False)
def _rounds(stamps: tuple[Stamp, ...], _runs: list[Run]) -> pd.DataFrame:
    return rounds_table(_runs)


def diagnoses_of(runs: Sequence[Run]) -> pd.DataFrame:
    """Return `diagnosis_table` of the runs, each from the cache while no round of it is added."""
    derived = sum(len(run.seeds()) for run in runs) <= MOST_DERIVED
    with st.spinner("Reading what the rounds say of their training", show_time=True):
        return pd.concat([_diagnoses(stamp(run), derived, run) for run in runs], ignore_index=True)


@st.cache_data(max_entries=256, show_spinner=False)
def _diagnoses(stamp: Stamp, derived: bool, _run: Run) -> pd.DataFrame:
    return diagnosis_table([_run], derived)


def curve_of(runs: Sequence[Run], score: Score, x: XAxis, macs: MacConvention, margin: float) -> pd.DataFrame:
    """Return `curve_table` of the runs, from the cache while no file has changed."""
    return _curve(stamps(runs), score, x, macs, margin, list(runs))


@st.cache_data(max_entries=64, show_spinner=False)
def _curve(
    stamps: tuple[Stamp, ...], score: Score, x: XAxis, macs: MacConvention, margin: float, _runs: list[Run]
) -> pd.DataFrame:
    return curve_table(rounds_of(_runs), score, x, macs, margin)


def tickets_of(runs: Sequence[Run], score: Score, macs: MacConvention, margin: float) -> pd.DataFrame:
    """Return `tickets_table` of the runs, from the cache while no file has changed."""
    return _tickets(stamps(runs), score, macs, margin, list(runs))


@st.cache_data(max_entries=64, show_spinner=False)
def _tickets(
    stamps: tuple[Stamp, ...], score: Score, macs: MacConvention, margin: float, _runs: list[Run]
) -> pd.DataFrame:
    return tickets_table(rounds_of(_runs), score, macs, margin)


def forecast_of(found: Opened, configs: Sequence[RunConfig], seeds: Sequence[int]) -> Forecast:
    """Return the estimated cost of runs, from the cache while neither the question nor a timed run has changed."""
    question = (*(config.canonical_json() for config in configs), *map(str, seeds))
    return _forecast(_state(found), question, found, list(configs), list(seeds))


def _state(found: Opened) -> str:
    """Return what changes whenever a round of any run is written, found out once for each look at the store."""
    known = found.memory.get("state")
    if known is None:
        written = [_written(run) for run in found.runs]
        known = found.memory["state"] = hashlib.sha256(repr(written).encode()).hexdigest()
    return known


@st.cache_data(max_entries=32, show_spinner=False)
def _forecast(
    state: str, question: tuple[str, ...], _found: Opened, _configs: list[RunConfig], _seeds: list[int]
) -> Forecast:
    return forecast(_found.store, _configs, _seeds, _found.runs)


def edge_mask(run: Run, seed: int, number: int) -> EdgeMask:
    """Return the edge mask after a round, from the cache while the seed's rounds have not changed."""
    seed_run = run.seed(seed)
    return _edge_mask(str(seed_run.path.absolute()), seed_run.rounds_stamp(), number, seed_run)


@st.cache_resource(max_entries=128, show_spinner=False)
def _edge_mask(path: str, written: tuple[int, int], number: int, _seed_run: SeedRun) -> EdgeMask:
    return _seed_run.edge_mask(number)


Fates = NDArray[np.int16]
Causes = NDArray[np.int8]


def masks_of(run: Run, seed: int) -> list[EdgeMask]:
    """Return the edge masks of all finished rounds."""
    rounds = run.seed(seed).whole_rounds()
    with st.spinner("Reading the rounds", show_time=True):
        return [edge_mask(run, seed, number) for number in range(rounds)]


def fates_of(run: Run, seed: int) -> Fates:
    """Return `removal_rounds` of a seed, from the cache while no round is added."""
    return _fates(stamp(run), seed, run)


@st.cache_resource(max_entries=16, show_spinner=False)
def _fates(stamp: Stamp, seed: int, _run: Run) -> Fates:
    return removal_rounds(masks_of(_run, seed))


def causes_of(run: Run, seed: int) -> Causes:
    """Return `removal_causes` of a seed, from the cache while no round is added."""
    return _causes(stamp(run), seed, run)


@st.cache_resource(max_entries=16, show_spinner=False)
def _causes(stamp: Stamp, seed: int, _run: Run) -> Causes:
    return removal_causes(_run.config, graph_of(_run.seed(seed)), masks_of(_run, seed))


def decisions(run: Run, seed: int) -> list[Decision]:
    """Return the decisions of a seed that keep scores, from the cache while no round is added."""
    return _decisions(stamp(run), seed, run)


# Of a large graph the scores of all rounds take a hundred megabytes and more.
@st.cache_resource(max_entries=2, show_spinner=False)
def _decisions(stamp: Stamp, seed: int, _run: Run) -> list[Decision]:
    return decisions_of(_run.seed(seed), masks_of(_run, seed), graph_of(_run.seed(seed)))


@dataclass(frozen=True)
class EdgeView:
    """What a picture of an edge's scores shows: both directions, in ranks or scores, with a round marked."""

    seed: int
    edge: int
    ways: tuple[Way, Way]
    ranks: bool
    shown: int


def scores_of(run: Run, view: EdgeView) -> go.Figure:
    """Return the picture of an edge's scores, drawn once."""
    return _scores(stamp(run), run.annotation.color, view, frame.is_dark(), run)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs={EdgeView: repr})
def _scores(stamp: Stamp, color: str, view: EdgeView, dark: bool, _run: Run) -> go.Figure:
    return score_figure(
        decisions(_run, view.seed),
        view.edge,
        view.ways,
        ranks=view.ranks,
        shown=view.shown,
        method=_run.config.method,
        color=color,
        dark=dark,
    )


def closeness_of(graph: Graph) -> Closeness:
    """Return what the ends of a graph's edges have in common, prepared once."""
    return _closeness(graph.content_hash, graph)


@st.cache_resource(max_entries=8, show_spinner=False)
def _closeness(content_hash: str, _graph: Graph) -> Closeness:
    return Closeness(_graph)


# Seconds for which a look serves every tab; pages look again every two.
FRESH = 1.0
# Rounds of a seed that are kept: the last one and one that somebody looks at.
MOST_ROUNDS = 2


class Read(NamedTuple):
    """The epochs of a round, and what changes with them."""

    epochs: Epochs
    stamp: tuple[int, int, bytes]


@dataclass(frozen=True)
class _Kept:
    start: int
    end: int
    before: bytes
    epochs: Epochs


class Reader:
    """The events of one seed: a round's as columns, never the whole file."""

    def __init__(self, seed_run: SeedRun) -> None:
        self._file = seed_run.event_file
        self._lock = threading.Lock()
        self._looked = -FRESH
        self._seen: tuple[int, ...] = ()
        self._starts: dict[int, int] = {}
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._current: set[int] = set()

    def rounds(self) -> list[int]:
        """Return the rounds that have epochs, in order."""
        with self._lock:
            self._look()
            return list(self._starts)

    def epochs(self, number: int) -> Read:
        """Return the epochs of a round; raises StoreError for a damaged line of it."""
        with self._lock:
            self._look()
            if number not in self._starts:
                return Read(NO_EPOCHS, (0, 0, b""))
            if number not in self._current:
                self._kept[number] = self._read(number, self._kept.get(number))
                self._current.add(number)
            self._kept.move_to_end(number)
            while len(self._kept) > MOST_ROUNDS:
                self._current.discard(self._kept.popitem(last=False)[0])
            kept = self._kept[number]
            return Read(kept.epochs, (kept.start, kept.end, kept.before))

    def _look(self) -> None:
        """Find out where rounds begin when the file has changed since the last look."""
        if time.monotonic() - self._looked < FRESH:
            return
        seen = self._stamp()
        if seen != self._seen or not seen:
            self._starts, self._seen = self._file.starts(), seen
            self._current.clear()
        self._looked = time.monotonic()

    def _read(self, number: int, kept: _Kept | None) -> _Kept:
        start = self._starts[number]
        # A resume cuts the file: what was kept stands only while its end does.
        if kept is None or kept.start != start or self._file.before(kept.end) != kept.before:
            kept = _Kept(start, start, b"", NO_EPOCHS)
        new, end = self._file.epochs(number, kept.end)
        epochs = kept.epochs.followed_by(new) if len(kept.epochs) else new
        return _Kept(start, end, self._file.before(end), epochs)

    def _stamp(self) -> tuple[int, ...]:
        try:
            found = self._file.path.stat()
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns


def reader_of(run: Run, seed: int) -> Reader:
    """Return the one reader of a seed's events."""
    seed_run = run.seed(seed)
    return _reader(str(seed_run.path.absolute()), seed_run)


@st.cache_resource(max_entries=32, show_spinner=False)
def _reader(path: str, _seed_run: SeedRun) -> Reader:
    return Reader(_seed_run)
