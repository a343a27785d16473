"""Controls for a subgraph: samples, nodes by name, clicks on a panel."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from analysis.labels import dataset_label
from analysis.subgraphs.html import panels_html
from analysis.subgraphs.panel import Subgraph, class_names, make_panel, node_name, original_panel, take
from analysis.subgraphs.samplers import DEFAULT_SIZE, SAMPLERS, Sample, in_order, sample_nodes
from app.components import controls, frame, url_state
from app.data import cache
from glt import formats
from glt.datasets import Graph
from glt.errors import ConfigError
from glt.masks import BoolArray, EdgeMask

SIZES = (50, 100, 150, 300, 600, 1000)
MOST_NAMED = 200
BESIDE_HEIGHT = 560
# Nodes named in a sentence.
MOST_TOLD = 5
ABOUT_CENTRE = "Number or id of the node around which the sample grows. It is highlighted."
ABOUT_NODES = (
    "Numbers or ids, separated by commas or spaces. Their neighbours are shown too. Empty: the node with most "
    "neighbours."
)


@dataclass(frozen=True)
class RoundSample:
    """A sample of a round, with named nodes and unknown names."""

    sample: Sample
    nodes: tuple[int, ...] = ()
    unknown: tuple[str, ...] = ()


def pick_round_sample(graph: Graph) -> RoundSample:
    """Choose the sample of a round; raises ConfigError for unknown nodes."""
    # Samples by class need classes.
    samplers = [sampler for sampler in in_order() if graph.num_classes or "label" not in sampler.uses]
    kinds = {sampler.name: sampler.label for sampler in samplers}
    about = "  \n".join(f"**{sampler.label}**: {sampler.description}." for sampler in samplers)
    sampler = SAMPLERS.get(controls.select("sample", "Sample", kinds, "walk", width=150, help=about))
    sizes = {str(size): formats.count(size) for size in SIZES}
    size = int(controls.select("size", "Nodes", sizes, str(DEFAULT_SIZE), width=96))
    label, centre = None, ""
    if "label" in sampler.uses:
        classes = {str(place): word for place, word in enumerate(class_names(graph))}
        label = int(controls.select("class", "Class", classes, width=200))
    if "center" in sampler.uses:
        centre = controls.text("node", "Centre", width=110, placeholder="any node", help=ABOUT_CENTRE)
    number = controls.number("draw", "Draw", 0, 0, 99, 1, width=110, help="Each number gives another random sample.")
    sample = Sample(sampler.name, size, int(number), find_node(graph, centre) if centre else None, label)
    return _with_nodes(graph, sample) if "nodes" in sampler.uses else RoundSample(sample)


def _with_nodes(graph: Graph, sample: Sample) -> RoundSample:
    """Choose the nodes of a sample; default: the one with most neighbours."""
    hub = int(np.bincount(graph.edges.ravel(), minlength=graph.num_nodes).argmax())
    text = controls.text("nodes", "Shown nodes", width=300, placeholder=node_name(graph, hub), help=ABOUT_NODES)
    nodes, unknown = find_known(graph, text)
    if unknown and not nodes:
        raise ConfigError(no_node(graph, unknown))
    return RoundSample(sample, nodes or (hub,), unknown)


def find_nodes(graph: Graph, text: str) -> tuple[int, ...]:
    """Return the nodes of a list; raises ConfigError for unknown ones."""
    nodes, unknown = find_known(graph, text)
    if unknown:
        raise ConfigError(no_node(graph, unknown))
    return nodes


def find_known(graph: Graph, text: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the nodes of a list, and its unknown names.

    Raises ConfigError for more than MOST_NAMED.
    """
    parts = [part.strip() for part in (text.split(",") if "," in text else re.split(r"\s+", text)) if part.strip()]
    if len(parts) > MOST_NAMED:
        raise ConfigError(f"{len(parts)} nodes are named: name at most {MOST_NAMED}.")
    indices = {part: _find(graph, part) for part in parts}
    nodes = dict.fromkeys(node for node in indices.values() if node is not None)
    return tuple(nodes), tuple(part for part, node in indices.items() if node is None)


def find_node(graph: Graph, text: str) -> int:
    """Return the index of a node by id or number; raises ConfigError if unknown."""
    node = _find(graph, text)
    if node is None:
        raise ConfigError(no_node(graph, [text]))
    return node


def _find(graph: Graph, text: str) -> int | None:
    if graph.node_ids is not None and text in graph.node_ids:
        return graph.node_ids.index(text)
    return int(text) if text.isascii() and text.isdigit() and int(text) < graph.num_nodes else None


def no_node(graph: Graph, missing: Sequence[str]) -> str:
    """Return an error sentence: unknown nodes, and which are valid."""
    names = ", ".join(repr(text) for text in missing[:MOST_TOLD])
    more = f" and {len(missing) - MOST_TOLD} more" if len(missing) > MOST_TOLD else ""
    own = "" if graph.node_ids is None else f"one of the data set's ids, such as {graph.node_ids[0]}, or "
    return (
        f"There is no node {names}{more} in {dataset_label(graph.name)}: enter {own}a number from 0 to "
        f"{graph.num_nodes - 1}."
    )


def tell_unknown(graph: Graph, choice: RoundSample) -> None:
    """Warn of unknown node names."""
    if choice.unknown:
        st.warning(frame.plain(no_node(graph, choice.unknown)), icon=controls.UNKNOWN)


def describe(graph: Graph, choice: RoundSample) -> str:
    """Return the sample in words: its kind, centre or class, and draw."""
    sample, sampler = choice.sample, SAMPLERS.get(choice.sample.kind)
    about = ""
    if "label" in sampler.uses and sample.label is not None:
        about = f" {class_names(graph)[sample.label]}"
    elif "nodes" in sampler.uses:
        more = f" and {len(choice.nodes) - MOST_TOLD} more" if len(choice.nodes) > MOST_TOLD else ""
        about = f" {', '.join(node_name(graph, node) for node in choice.nodes[:MOST_TOLD])}{more} and neighbours"
    elif "center" in sampler.uses:
        centre = "a random node" if sample.center is None else node_name(graph, sample.center)
        about = f" around {centre}"
    return f"Sample: {formats.inside(sampler.label)}{about}, draw {sample.seed}."


cache.KEYS[Subgraph] = lambda part: part.nodes.tobytes()


@cache.cached(64, spinner="Laying out the graph", shared=True)
def subgraph(graph: Graph, choice: RoundSample, cut: BoolArray | None = None) -> Subgraph:
    """Return a sampled subgraph with its layout; `cut` marks the removed edges, for samples that use them."""
    sample = choice.sample
    nodes = sample_nodes(
        graph, sample.kind, sample.size, sample.seed, sample.center, sample.label, cut=cut, nodes=choice.nodes
    )
    return take(graph, nodes)


def show_beside_original(graph: Graph, mask: EdgeMask, title: str) -> None:
    """Draw the nodes of a random walk in the original and the masked graph."""
    part = subgraph(graph, RoundSample(Sample("walk", 120)))
    panel = make_panel(graph, part, mask, title)
    html = panels_html([original_panel(graph, part), panel], frame.is_dark(), BESIDE_HEIGHT)
    st.iframe(html, height=BESIDE_HEIGHT, alt=f"{dataset_label(graph.name)}, {title}. {' '.join(panel.caption)}")


KEY = "picking"
SCRIPT = Path(__file__).resolve().parents[1] / "static" / "picking.js"
# The value for all neighbours.
ALL_NEIGHBOURS = "all"


def listen(graph: Graph, nodes: Sequence[int]) -> None:
    """Receive clicks on the panels, and mark `nodes`: a node or both ends of an edge."""
    _component()(
        key=KEY,
        data={"nodes": [int(node) for node in nodes]},
        height=0,
        on_picked_change=lambda: choose(graph, st.session_state[KEY].picked),
    )


@functools.cache
def _component() -> Any:
    return st.components.v2.component("glt_studio.picking", js=SCRIPT.read_text(encoding="utf-8"))


def choose(graph: Graph, nodes: Any) -> None:
    """Choose a node with all its edges, an edge by both ends, or nothing."""
    if not isinstance(nodes, list) or not all(type(node) is int and 0 <= node < graph.num_nodes for node in nodes):
        return
    at, to = (*nodes, None, None)[:2]
    if nodes:
        _set("section", "why")
    _set("at", "" if at is None else node_name(graph, at))
    _set("to", ALL_NEIGHBOURS if to is None else str(to))


def named_nodes(graph: Graph) -> tuple[int, ...]:
    """Return the node, or both ends of the edge, in the address."""
    at, to = url_state.current("at"), url_state.current("to")
    try:
        about = (find_node(graph, at),) if at else ()
    except ConfigError:
        return ()
    return (*about, int(to)) if about and to.isascii() and to.isdigit() else about


def _set(name: str, value: str) -> None:
    # Reading it first prevents the address from overriding the choice.
    url_state.start(name)
    st.session_state[name] = value
