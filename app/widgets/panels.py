"""Panels of a sample under several runs, round by round: the runs to compare, and their document."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis import names
from analysis.shared_graph import shared_graph
from analysis.subgraphs import Panel, Subgraph, make_panel, original_panel, panels_html
from analysis.titles import short_title
from app.widgets import controls, pickers, reading
from glt.data import Graph
from glt.errors import ConfigError
from glt.store import Run

BESIDE = "beside"
ABOUT_COMPARING = "A third panel: the same nodes in the same places, as the same seed of another run has them."


def pick_compared(run: Run, seed: int, found: Sequence[Run]) -> Run | None:
    """Choose another run on the same graph to stand beside this one, or none."""
    others = [other for other in found if other.reference != run.reference and _comparable(run, other, seed)]
    words = pickers.run_words(found)
    options = {"": "nothing", **{other.reference: words[other.reference] for other in others}}
    pickers.gone_from(BESIDE, options)
    changed = pickers.let_go(BESIDE)
    chosen = controls.optional(BESIDE, "Compare with", options, width=240, help=ABOUT_COMPARING, on_change=changed)
    return next((other for other in others if other.reference == chosen), None)


def _comparable(run: Run, other: Run, seed: int) -> bool:
    if seed not in other.seeds() or not other.seed(seed).whole_rounds():
        return False
    try:
        shared_graph([run, other], "A comparison")
    except ConfigError:
        return False
    return True


def alternative(graph: Graph, part: Subgraph, runs: Sequence[Run], seed: int, number: int) -> str:
    """Say what the pictures show, with the numbers under them."""
    shown = [
        _panel(graph.content_hash, reading.stamp(run), part, seed, _last(run, seed, number), graph, run) for run in runs
    ]
    told = [f"{panel.title}: {'; '.join(panel.caption)}." for panel in (original_panel(graph, part), *shown)]
    return " ".join([f"{names.dataset(graph.name)}, the same nodes side by side.", *told])


def document(
    graph: Graph,
    part: Subgraph,
    runs: Sequence[Run],
    seed: int,
    number: int,
    dark: bool,
    height: int,
    selected: int | None = None,
) -> str:
    """Return the document of the original and of a round of each run, with the rounds before it to play."""
    rounds = tuple(_last(run, seed, number) for run in runs)
    stamps = reading.stamps(runs)
    nodes = part.nodes.tobytes()
    return _document(graph.content_hash, stamps, nodes, rounds, seed, dark, height, selected, graph, part, list(runs))


@st.cache_data(max_entries=48, show_spinner="Drawing the rounds")
def _document(
    content_hash: str,
    stamps: tuple[reading.Stamp, ...],
    nodes: bytes,
    rounds: tuple[int, ...],
    seed: int,
    dark: bool,
    height: int,
    selected: int | None,
    _graph: Graph,
    _part: Subgraph,
    _runs: list[Run],
) -> str:
    replay = [_rounds(_graph, _part, run, seed, last) for run, last in zip(_runs, rounds, strict=True)]
    original = original_panel(_graph, _part)
    shown = [original, *(panels[-1] for panels in replay)]
    return panels_html(shown, dark, height, selected, [[original], *replay])


def _rounds(graph: Graph, part: Subgraph, run: Run, seed: int, last: int) -> list[Panel]:
    return [_panel(graph.content_hash, reading.stamp(run), part, seed, k, graph, run) for k in range(last + 1)]


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs={Subgraph: lambda part: part.nodes.tobytes()})
def _panel(
    content_hash: str, stamp: reading.Stamp, part: Subgraph, seed: int, number: int, _graph: Graph, _run: Run
) -> Panel:
    before = reading.edge_mask(_run, seed, number - 1) if number else None
    title = f"{short_title(_run)}, round {number}"
    return make_panel(_graph, part, reading.edge_mask(_run, seed, number), title, before)


def _last(run: Run, seed: int, number: int) -> int:
    """Return the round to show of a run that may have fewer rounds than the one it stands beside."""
    return min(number, run.seed(seed).whole_rounds() - 1)
