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
from glt.printable import MOST_SAID, brief

VIEWS = {"beside": "Beside the runs here", "subgraph": "Subgraph", "measures": "Measurements"}
QUANTITIES = {
    "test": "Test score",
    "val": "Validation score",
    "weight_sparsity": "Weight sparsity",
    "test_last": "Last epoch's test score",
    "best_epoch": "Best epoch",
    "seconds": "Time of the round",
    "search_seconds": "Time of the search",
}
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
        if found["passed"]:
            st.badge("verified", color="green", icon=":material/verified:")
        else:
            st.badge("check failed", color="red", icon=":material/close:")
        st.button("Close", icon=":material/close:", key="close-imported", on_click=close, type="tertiary")
    st.caption(frame.plain(f"{name}, made from {found['run']}; {names.task(config.task)}."))


def _verdict(found: Report) -> None:
    if not found["passed"]:
        frame.failures(faults(found))
        return
    st.success(
        f"Verified: run on its surviving edges alone the network gives the outputs the file states (largest "
        f"difference {_off(found)}), and every number that can be found again is as it says. Only stated: "
        f"{_unchecked(found)}; and in ticket.json {frame.plain(brief(', '.join(found['unchecked']), MOST_SAID))}.",
        icon=":material/verified:",
    )


def faults(found: Report) -> list[str]:
    """Return a sentence for everything that fails the check, the outputs first."""
    told = list(found["contradictions"])
    if found["impossible"]:
        told.insert(0, f"No run can have what it states as {_listed(found['impossible'])}.")
    if found["differs"]:
        told.insert(0, f"It states other numbers than those found: {_listed(found['differs'])}.")
    if not found["outputs_agree"]:
        told.insert(0, _other_outputs(found))
    return told


def _other_outputs(found: Report) -> str:
    if found["not_numbers"]:
        many = formats.number_of(found["not_numbers"], "output")
        return f"{many}, in the file or computed here, cannot be told: not a number."
    return (
        f"Run on its surviving edges the network gives other outputs than the file states: they differ by up to "
        f"{_off(found)}, more than {found['tolerance']:.0e}."
    )


def _off(found: Report) -> str:
    return f"{found['max_output_difference']:.1e}" if found["max_output_difference"] else "0"


def _unchecked(found: Report) -> str:
    return _listed([each["name"] for each in found["stated"] if each["found"] is None])


def _listed(told: list[str]) -> str:
    return ", ".join(formats.inside(quantity(name)) for name in told)


def quantity(name: str) -> str:
    """Return the words for a number that a file states.

    >>> quantity("weight_sparsity"), quantity("edges_kept_either_way")
    ('Weight sparsity', 'Edges kept, either way')
    """
    if name.startswith("macs."):
        return f"MACs, {MAC_NAMES.get(name.removeprefix('macs.'), 'another convention')}"  # type: ignore[call-overload]
    return QUANTITIES.get(name) or wording.label(name)


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
    if not each["possible"]:
        return ":orange[cannot be]"
    if each["found"] is None:
        return ":gray[stated, cannot be checked here]"
    return ":orange[differs]" if each["differs"] else ":green[same]"


def _written_number(name: str, value: float) -> str:
    if name.startswith("macs."):
        return formats.macs(value)
    if name == "best_epoch":
        # Epochs are counted from 1 where people read them.
        return formats.count(value + 1)
    if name.endswith("seconds"):
        return formats.duration(value) if value >= 0 else f"{value:g} s"
    return formats.percent(value)


def _caption(found: Report) -> str:
    told = [
        f"{formats.count(found['nodes'])} nodes",
        f"{formats.count(found['entries_kept'])} of {formats.count(found['entries'])} edge entries",
        f"{formats.count(found['weights_kept'])} of {formats.count(found['weights'])} weights left",
    ]
    links = (
        ""
        if found["test"] is not None
        else " A link file holds no held-out edges, so its scores cannot be found again."
    )
    return f"{', '.join(told)}. Found: counted on its masks, and read off the outputs computed here.{links}"
