"""A ticket file's graph against the data set it names: a part of it drawn, and what pruning left of its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from analysis import names
from analysis.measures import measuring, wording
from analysis.subgraphs import Sample, make_panel, original_panel, panels_html
from app.widgets import frame, look, measured_table, sampling
from glt.config import RunConfig
from glt.data import DATASETS, Graph
from glt.export.sparse_graph import SparseGraph
from glt.masks import EdgeMask
from glt.printable import brief
from glt.training.tasks import message_graph

HEIGHT = 560
PART = Sample("walk", 120)


def show(found: Mapping[str, Any], sparse: SparseGraph, view: str) -> None:
    """Show the view, or why it cannot be: the data set is unknown here, or another version of it.

    Raises DataError where the data set cannot be read.
    """
    config = RunConfig.model_validate(found["config"])
    if config.dataset not in DATASETS.names():
        frame.empty(
            "An unknown data set",
            f"{frame.plain(brief(config.dataset))} is no data set of this version: its sparse graph can be downloaded "
            "above, but there is no original to hold it against.",
            "database_off",
        )
        return
    with st.spinner("Reading the data set", show_time=True):
        graph = message_graph(config)
        mask = sparse.mask(graph)
    if not graph.has_content(found["graph_hash"]):
        st.caption(":material/info: Labels or the order of edges are not those of the data set here.")
    if view == "subgraph":
        _subgraph(graph, mask, found)
    else:
        _measures(graph, mask)


def _subgraph(graph: Graph, mask: EdgeMask, found: Mapping[str, Any]) -> None:
    part = sampling.subgraph(graph, PART)
    title = f"Ticket file, round {found['round']}"
    html = panels_html([original_panel(graph, part), make_panel(graph, part, mask, title)], look.is_dark(), HEIGHT)
    st.iframe(html, height=HEIGHT, alt=f"{names.dataset(graph.name)}: original and {title}, side by side")
    st.caption("A random walk's nodes, in the same places; dashed: removed.")


def _measures(graph: Graph, mask: EdgeMask) -> None:
    bar = st.progress(0.0, "Measuring the original")
    try:
        before = _measured(graph.content_hash, b"", graph, EdgeMask.full(mask.kind, mask.num_edges))
        bar.progress(0.5, "Measuring what is left")
        after = _measured(graph.content_hash, mask.keep.tobytes(), graph, mask)
    finally:
        bar.empty()
    with st.container(key="figures-guest-measures"):
        st.table(as_read(before, after), border="horizontal", hide_index=True, width="content")
    st.caption(
        "An edge counts when it survives in at least one direction; NetworkX's definitions, isolated nodes kept."
    )


@st.cache_data(max_entries=16, show_spinner=False)
def _measured(content_hash: str, kept: bytes, _graph: Graph, _mask: EdgeMask) -> measuring.Numbers:
    return measuring.measure_mask(_graph, _mask)


def as_read(before: Mapping[str, float], after: Mapping[str, float]) -> pd.DataFrame:
    """Return one row a measure of the Measurements page's first table: the original, the ticket, the change."""
    shown = [name for name in measured_table.HEADLINE if name in before]
    return pd.DataFrame(
        {
            "Measure": [wording.label(name) for name in shown],
            "Original": [wording.value(name, before[name]) for name in shown],
            "Ticket file": [wording.value(name, after[name]) for name in shown],
            "Change": [wording.change(before[name], after[name]) for name in shown],
        }
    )
