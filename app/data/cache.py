"""Caches shared by all tabs, valid until the files of the runs change."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from analysis.removal import edges, scores
from analysis.tables.curves import Score, XAxis, curve_table
from analysis.tables.rounds import rounds_table
from analysis.tables.tickets import diagnosis_table, tickets_table
from app.data.runs import Catalog
from glt.config import RunConfig
from glt.datasets import Graph
from glt.jobs.estimate import Forecast, forecast
from glt.lottery.graph import graph_of
from glt.masks import EdgeMask
from glt.removal_causes import Codes, seed_source
from glt.store import MacConvention, Run, SeedRun
from glt.verdicts import DELTA

# Deriving diagnostics of old rounds takes 0.1 s per seed; of more seeds, only stored ones are read.
MOST_DERIVED = 100
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Stamp = tuple[tuple[str | int, ...], ...]


def stamps(runs: Sequence[Run]) -> tuple[Stamp, ...]:
    """Return the stamps of several runs."""
    return tuple(map(stamp, runs))


def stamp(run: Run) -> Stamp:
    """Return a key that changes with the run's rounds, title and colour."""
    annotation = run.annotation
    return (*_written(run), (annotation.title, annotation.color))


def _written(run: Run) -> Stamp:
    """Return size and time of every seed's file of rounds."""
    return tuple((str(run.path), seed, *run.seed(seed).rounds_stamp()) for seed in run.seeds())


def cached(
    entries: int, spinner: str | bool = False, shared: bool = False
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator that caches by `cache_key` of all arguments.

    `shared` results are not copied. Errors of the function and of stamps are raised; Streamlit's `hash_funcs` hide
    them.
    """
    keep: Any = st.cache_resource if shared else st.cache_data

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        def compute(key: object, _call: Callable[[], Result]) -> Result:
            return _call()

        # Streamlit identifies cached functions by these.
        compute.__module__, compute.__qualname__ = function.__module__, function.__qualname__
        kept = keep(max_entries=entries, show_spinner=spinner)(compute)

        @wraps(function)
        def read(*args: Parameters.args, **named: Parameters.kwargs) -> Result:
            result: Result = kept(cache_key((args, named)), partial(function, *args, **named))
            return result

        return read

    return decorate


def cache_key(value: object) -> object:
    """Return the key of a value: stamps of runs, hashes of graphs, fields of the rest.

    >>> cache_key([1, "a", {"b": None}])
    (1, 'a', (('b', None),))
    """
    if type(value) in KEYS:
        return KEYS[type(value)](value)
    if value is None or isinstance(value, (str, int, float, bytes, np.generic)):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(map(cache_key, value))
    if isinstance(value, dict):
        return tuple((name, cache_key(item)) for name, item in value.items())
    if not dataclasses.is_dataclass(value):
        raise TypeError(f"no cache key for {type(value).__name__}")
    return tuple(cache_key(getattr(value, field.name)) for field in dataclasses.fields(value))


# Keys by type; modules add their own types.
KEYS: dict[type, Callable[[Any], object]] = {
    Run: stamp,
    SeedRun: lambda seed: (str(seed.path.absolute()), *seed.rounds_stamp()),
    Graph: lambda graph: graph.content_hash,
    np.ndarray: lambda array: (array.shape, array.tobytes()),
}


@cached(32)
def rounds_of(runs: Sequence[Run]) -> pd.DataFrame:
    """Return `rounds_table` of the runs."""
    return rounds_table(runs)


def diagnoses_of(runs: Sequence[Run]) -> pd.DataFrame:
    """Return `diagnosis_table` of the runs, each cached separately."""
    derived = sum(len(run.seeds()) for run in runs) <= MOST_DERIVED
    with st.spinner("Reading the diagnostics of the rounds", show_time=True):
        return pd.concat([_diagnoses(run, derived) for run in runs], ignore_index=True)


@cached(256)
def _diagnoses(run: Run, derived: bool) -> pd.DataFrame:
    return diagnosis_table([run], derived)


@cached(64)
def curve_of(
    runs: Sequence[Run], score: Score, x: XAxis, macs: MacConvention = "dense_features", margin: float = DELTA
) -> pd.DataFrame:
    """Return `curve_table` of the runs."""
    return curve_table(rounds_of(runs), score, x, macs, margin)


@cached(64)
def tickets_of(runs: Sequence[Run], score: Score, macs: MacConvention, margin: float) -> pd.DataFrame:
    """Return `tickets_table` of the runs."""
    return tickets_table(rounds_of(runs), score, macs, margin)


def forecast_of(catalog: Catalog, configs: Sequence[RunConfig], seeds: Sequence[int]) -> Forecast:
    """Return the estimated cost of runs, cached until the arguments or timed runs change."""
    if "state" not in catalog.memory:
        # Once per reading of the store.
        written = repr([_written(run) for run in catalog.runs])
        catalog.memory["state"] = hashlib.sha256(written.encode()).hexdigest()
    question = (*(config.canonical_json() for config in configs), *map(str, seeds))
    return _forecast(catalog.memory["state"], question, catalog, list(configs), list(seeds))


@st.cache_data(max_entries=32, show_spinner=False)
def _forecast(
    state: str, question: tuple[str, ...], _catalog: Catalog, _configs: list[RunConfig], _seeds: list[int]
) -> Forecast:
    return forecast(_catalog.store, _configs, _seeds, _catalog.runs)


def edge_mask(run: Run, seed: int, number: int) -> EdgeMask:
    """Return the edge mask of a seed after a round."""
    return _edge_mask(run.seed(seed), number)


@cached(128, shared=True)
def _edge_mask(seed_run: SeedRun, number: int) -> EdgeMask:
    return seed_run.edge_mask(number)


def masks_of(run: Run, seed: int) -> list[EdgeMask]:
    """Return the edge masks of all finished rounds."""
    rounds = run.seed(seed).whole_rounds()
    with st.spinner("Reading the rounds", show_time=True):
        return [edge_mask(run, seed, number) for number in range(rounds)]


@cached(16, shared=True)
def removal_rounds(run: Run, seed: int) -> NDArray[np.int16]:
    """Return the round that removed each edge entry, 0 for survivors: `analysis.removal.edges`."""
    return edges.removal_rounds(masks_of(run, seed))


@cached(8, shared=True)
def causes_by_round(run: Run, seed: int) -> list[Codes]:
    """Return the causes of the removals up to every round: `analysis.removal.edges`."""
    seed_run = run.seed(seed)
    graph = graph_of(seed_run)
    return edges.causes_by_round(run.config, graph, masks_of(run, seed), seed_source(seed_run, graph))


def removal_causes(run: Run, seed: int) -> NDArray[np.int8]:
    """Return the cause of each removal: `analysis.removal.edges`."""
    return edges.by_direction(causes_by_round(run, seed)[-1], edge_mask(run, seed, 0))


# The scores of all rounds of a large graph take 100 MB and more.
@cached(2, shared=True)
def decisions(run: Run, seed: int) -> list[scores.Decision]:
    """Return the pruning decisions of a seed that keep scores."""
    return scores.decisions_of(run.seed(seed), masks_of(run, seed), graph_of(run.seed(seed)))


@cached(8, shared=True)
def closeness_of(graph: Graph) -> edges.Closeness:
    """Return what the ends of a graph's edges have in common."""
    return edges.Closeness(graph)


def events_stamp(seed_run: SeedRun) -> tuple[str | int, ...]:
    """Return a key that changes with a seed's file of epochs."""
    path = seed_run.event_file.path.absolute()
    try:
        status = path.stat()
    except OSError:
        return (str(path),)
    return str(path), status.st_ino, status.st_size, status.st_mtime_ns


@st.cache_resource(max_entries=32, show_spinner=False)
def rounds_with_epochs(stamp: tuple[str | int, ...], _seed_run: SeedRun) -> list[int]:
    """Return the rounds of a file of epochs, in order; `stamp` is its `events_stamp`."""
    return _seed_run.event_file.rounds()
