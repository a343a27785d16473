"""A click on a node or an edge of the pictures opens what became of it; the choice is in the address."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from analysis.subgraphs.subgraph import node_name
from app.widgets import address
from app.widgets.sampling import find_node
from glt.data import Graph
from glt.errors import ConfigError

KEY = "picking"
SCRIPT = Path(__file__).resolve().parents[1] / "static" / "picking.js"
# The neighbour that stands for all of them.
ALL = "all"


def listen(graph: Graph, nodes: Sequence[int]) -> None:
    """Hear what is clicked in the pictures, and point out `nodes` in them: a node, both ends of an edge, or nothing."""
    picked = partial(_on_picked, graph)
    _component()(key=KEY, data={"nodes": [int(node) for node in nodes]}, height=0, on_picked_change=picked)


@cache
def _component() -> Any:
    return st.components.v2.component("glt_studio.picking", js=SCRIPT.read_text(encoding="utf-8"))


def _on_picked(graph: Graph) -> None:
    choose(graph, st.session_state[KEY].picked)


def choose(graph: Graph, nodes: Any) -> None:
    """Tell about a node and all its edges, or about the edge between two nodes, or about nothing named."""
    if not isinstance(nodes, list) or not all(type(node) is int and 0 <= node < graph.num_nodes for node in nodes):
        return
    at, to = (*nodes, None, None)[:2]
    if nodes:
        _set("section", "why")
    _set("at", "" if at is None else node_name(graph, at))
    _set("to", ALL if to is None else str(to))


def named(graph: Graph) -> tuple[int, ...]:
    """Return the node, or the ends of the edge, that the address names while the page tells about something else."""
    at, to = address.told("at"), address.told("to")
    try:
        about = (find_node(graph, at),) if at else ()
    except ConfigError:
        return ()
    return (*about, int(to)) if about and to.isascii() and to.isdigit() else about


def _set(name: str, value: str) -> None:
    # Reading it first keeps the address from overruling the choice.
    address.start(name)
    st.session_state[name] = value
