"""The whole graph after a round: to move about in while it is small, as a picture with the sample marked when not."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis import names
from analysis.subgraphs import Panel, Subgraph, make_panel, panels_html, take
from analysis.titles import short_title
from app.widgets import frame, look, reading
from glt import formats
from glt.data import Graph
from glt.data.graph import IntArray
from glt.store import Run

# Beyond so many a picture of all of them is a blot that takes minutes to lay out.
MOST_DRAWN = 200_000
# Browsers move more than this many lines only in jerks.
MOST_EDGES = 5000
HEIGHT = 700


def whole_graph(run: Run, seed: int, number: int, graph: Graph, part: Subgraph) -> None:
    """Show the whole graph after a round, with the sample marked; of a graph that is too large, say so."""
    if graph.num_edges > MOST_DRAWN:
        frame.empty(
            "Too large to be drawn whole",
            f"{names.dataset(graph.name)} has {formats.count(graph.num_edges)} edges, and above "
            f"{formats.count(MOST_DRAWN)} a picture of all of them shows nothing: draw other samples above, or see the "
            "whole in numbers on Measurements.",
            "blur_on",
        )
        return
    drawn = _drawn(*_key(run, seed, number, graph), look.is_dark(), part.nodes.tobytes(), run, graph, part.nodes)
    alt = _alt(run, seed, number, graph, part)
    if isinstance(drawn, str):
        st.iframe(drawn, height=HEIGHT, alt=alt)
    else:
        st.image(drawn, width="stretch", alt=alt)
    st.caption(_caption(run, seed, number, graph, part))


def _alt(run: Run, seed: int, number: int, graph: Graph, part: Subgraph) -> str:
    panel = _panel(*_key(run, seed, number, graph), run, graph)
    marked = f"{formats.count(part.nodes.size)} nodes of the sample are marked"
    return f"{names.dataset(graph.name)}, {_title(run, number)}, seed {seed}. {panel.caption[1]}; {marked}"


def _caption(run: Run, seed: int, number: int, graph: Graph, part: Subgraph) -> str:
    panel = _panel(*_key(run, seed, number, graph), run, graph)
    large = graph.num_edges > MOST_EDGES
    marked = f" The {formats.count(part.nodes.size)} nodes of the sample are {'large and ' if large else ''}outlined."
    why = f" Above {formats.count(MOST_EDGES)} edges the picture does not move." if large else ""
    fresh = ", strong those of this round" if panel.fresh.any() else ""
    title = frame.plain(_title(run, number))
    return f"{title}, seed {seed}. {panel.caption[1]}. Removed edges are orange{fresh}.{marked}{why}"


def _title(run: Run, number: int) -> str:
    return f"{short_title(run)}, round {number}"


Key = tuple[str, reading.Stamp, int, int]


def _key(run: Run, seed: int, number: int, graph: Graph) -> Key:
    return graph.content_hash, reading.stamp(run), seed, number


@st.cache_resource(max_entries=4, show_spinner="Laying out the whole graph")
def _layout(content_hash: str, _graph: Graph) -> Subgraph:
    return take(_graph, np.arange(_graph.num_nodes))


@st.cache_resource(max_entries=8, show_spinner=False)
def _panel(content_hash: str, stamp: reading.Stamp, seed: int, number: int, _run: Run, _graph: Graph) -> Panel:
    before = reading.edge_mask(_run, seed, number - 1) if number else None
    mask = reading.edge_mask(_run, seed, number)
    return make_panel(_graph, _layout(content_hash, _graph), mask, _title(_run, number), before)


@st.cache_data(max_entries=16, show_spinner="Drawing the whole graph")
def _drawn(
    content_hash: str,
    stamp: reading.Stamp,
    seed: int,
    number: int,
    dark: bool,
    sample: bytes,
    _run: Run,
    _graph: Graph,
    _nodes: IntArray,
) -> str | bytes:
    """Return a document to move about in, or above MOST_EDGES a picture."""
    panel = _panel(content_hash, stamp, seed, number, _run, _graph)
    if _graph.num_edges > MOST_EDGES:
        # matplotlib takes half a second, which a page of a smaller graph need not wait for.
        from analysis.subgraphs.overview import overview_png

        return overview_png(panel, _nodes, dark)
    return panels_html([panel], dark, HEIGHT, marked=_nodes.tolist())
