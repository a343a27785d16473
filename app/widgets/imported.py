"""What a checked ticket file is: its verdict, its numbers beside what is found, and the views it can be seen in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from analysis import names, palette
from analysis.marks.axes import MAC_NAMES
from analysis.measures import wording
from app.widgets import controls, downloads, frame, guest_beside, guest_graph
from glt import formats
from glt.config import RunConfig
from glt.export.graph_formats import GRAPH_FORMATS, read_adjacency
from glt.export.sparse_graph import SparseGraph

VIEWS = {"beside": "Beside the runs here", "subgraph": "Subgraph", "measures": "Measurements"}
Report = Mapping[str, Any]


def show(found: Report, graph: bytes, name: str, close: Callable[[], None]) -> None:
    """Show a file's report; `graph` is its sparse graph as a matrix for SciPy."""
    with st.container(border=True, key="imported", gap="small"):
        _head(found, name, close)
        _verdict(found)
        with st.container(key="figures-stated"):
            st.table(as_read(found), border="horizontal", hide_index=True, width="content")
        st.caption(_caption(found))
        sparse = sparse_graph(found, graph)
        st.markdown("**Its sparse graph**")
        downloads.graph_buttons(partial(_written, sparse), _stem(found), "imported")
    view = controls.segments("of_file", "Seen", VIEWS, label_visibility="collapsed")
    with frame.or_why():
        if view == "beside":
            guest_beside.show(found)
        else:
            guest_graph.show(found, sparse, view)


def sparse_graph(found: Report, content: bytes) -> SparseGraph:
    """Return the sparse graph of a file, which needs no data set to be here."""
    title = f"{found['run']}, seed {found['seed']}, round {found['round']}"
    return read_adjacency(content, title, found["edge_mask"] == "directed", found["class_names"])


def _written(sparse: SparseGraph, form: str) -> bytes:
    return GRAPH_FORMATS[form].write(sparse)


def _stem(found: Report) -> str:
    name = re.sub(r"[^\w.-]", "-", f"{found['dataset']}-{found['model']}")
    return f"{name}-seed-{found['seed']}-round-{found['round']:02d}"


def _head(found: Report, name: str, close: Callable[[], None]) -> None:
    config = RunConfig.model_validate(found["config"])
    title = f"{palette.label(config.method)} · {names.dataset(found['dataset'])} {names.model(config.model)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(
            frame.plain(f"{title}, round {found['round']}, seed {found['seed']}"), anchor=False, width="content"
        )
        if found["passed"] and not found["differs"]:
            st.badge("verified", color="green", icon=":material/verified:")
        elif found["passed"]:
            st.badge("states other numbers", color="orange", icon=":material/contrast:")
        else:
            st.badge("failed", color="red", icon=":material/close:")
        st.button("Close", icon=":material/close:", key="close-imported", on_click=close, type="tertiary")
    st.caption(frame.plain(f"{name}, made from {found['run']}; {names.task(config.task)}."))


def _verdict(found: Report) -> None:
    off = f"{found['max_output_difference']:.1e}" if found["max_output_difference"] else "0"
    if not found["passed"]:
        frame.failure(
            f"Run on its surviving edges the network gives other outputs than the file states: they differ by up to "
            f"{off}, more than {found['tolerance']:.0e}."
        )
    elif found["differs"]:
        told = ", ".join(quantity(each).lower() for each in found["differs"])
        st.warning(
            f"Its outputs are those it states, but other numbers are not those found: {frame.plain(told)}.",
            icon=":material/contrast:",
        )
    else:
        st.success(
            f"Verified: run on its surviving edges alone the network gives the outputs the file states (largest "
            f"difference {off}), and what it says of its round is what is found{_but(found)}.",
            icon=":material/verified:",
        )


def _but(found: Report) -> str:
    untold = [quantity(each["name"]).lower() for each in found["stated"] if each["found"] is None]
    return f", {' and '.join(untold)} aside, which cannot be told" if untold else ""


def quantity(name: str) -> str:
    """Return the words for a number that a file states.

    >>> quantity("weight_sparsity"), quantity("edges_kept_either_way")
    ('Weight sparsity', 'Edges kept, either way')
    """
    if name.startswith("macs."):
        return f"MACs, {MAC_NAMES.get(name.removeprefix('macs.'), 'another convention')}"  # type: ignore[call-overload]
    return {"test": "Test score", "weight_sparsity": "Weight sparsity"}.get(name) or wording.label(name)


def as_read(found: Report) -> pd.DataFrame:
    """Return one row a number that the file states: there, found here, and whether they agree."""
    rows = [
        (
            quantity(each["name"]),
            _written_number(each["name"], each["in_file"]),
            formats.MISSING if each["found"] is None else _written_number(each["name"], each["found"]),
            _agreement(each),
        )
        for each in found["stated"]
    ]
    return pd.DataFrame(rows, columns=["Quantity", "In the file", "Found", ""])


def _agreement(each: Report) -> str:
    if each["found"] is None:
        return ":gray[cannot be told]"
    return ":orange[differs]" if each["differs"] else ":green[same]"


def _written_number(name: str, value: float) -> str:
    return formats.macs(value) if name.startswith("macs.") else formats.percent(value)


def _caption(found: Report) -> str:
    told = [
        f"{formats.count(found['nodes'])} nodes",
        f"{formats.count(found['entries_kept'])} of {formats.count(found['entries'])} edge entries",
        f"{formats.count(found['weights_kept'])} of {formats.count(found['weights'])} weights left",
    ]
    links = "" if found["test"] is not None else " A link file holds no held-out edges, so its score cannot be told."
    return f"{', '.join(told)}. Found: counted on its masks, and read off the outputs computed here.{links}"
