"""Cached readers of what a seed cut: all its masks, when and why each edge went, and the scores of every round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from analysis.cuts import Closeness, Decision, Way, decisions_of, removal_causes, removal_rounds, score_figure
from app.widgets import look, reading
from glt.data import Graph
from glt.masks import EdgeMask
from glt.store import Run
from glt.tickets.graph import graph_of

Fates = NDArray[np.int16]
Causes = NDArray[np.int8]


def masks_of(run: Run, seed: int) -> list[EdgeMask]:
    """Return the edge masks of all finished rounds."""
    rounds = run.seed(seed).whole_rounds()
    with st.spinner("Reading the rounds", show_time=True):
        return [reading.edge_mask(run, seed, number) for number in range(rounds)]


def fates_of(run: Run, seed: int) -> Fates:
    """Return `removal_rounds` of a seed, from the cache while no round is added."""
    return _fates(reading.stamp(run), seed, run)


@st.cache_resource(max_entries=16, show_spinner=False)
def _fates(stamp: reading.Stamp, seed: int, _run: Run) -> Fates:
    return removal_rounds(masks_of(_run, seed))


def causes_of(run: Run, seed: int) -> Causes:
    """Return `removal_causes` of a seed, from the cache while no round is added."""
    return _causes(reading.stamp(run), seed, run)


@st.cache_resource(max_entries=16, show_spinner=False)
def _causes(stamp: reading.Stamp, seed: int, _run: Run) -> Causes:
    return removal_causes(_run.config, graph_of(_run.seed(seed)), masks_of(_run, seed))


def decisions(run: Run, seed: int) -> list[Decision]:
    """Return the decisions of a seed that keep scores, from the cache while no round is added."""
    return _decisions(reading.stamp(run), seed, run)


# Of a large graph the scores of all rounds take a hundred megabytes and more.
@st.cache_resource(max_entries=2, show_spinner=False)
def _decisions(stamp: reading.Stamp, seed: int, _run: Run) -> list[Decision]:
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
    return _scores(reading.stamp(run), run.annotation.color, view, look.is_dark(), run)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs={EdgeView: repr})
def _scores(stamp: reading.Stamp, color: str, view: EdgeView, dark: bool, _run: Run) -> go.Figure:
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
