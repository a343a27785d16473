"""Cached readers: a run is read again only when its files have changed, whichever tab asks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from analysis.tables import Score, XAxis, curve_table, diagnosis_table, rounds_table, tickets_table
from app.widgets.opened import Opened
from glt.config import RunConfig
from glt.jobs.forecast import Forecast, forecast
from glt.masks import EdgeMask
from glt.store import MacConvention, Run, SeedRun

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
