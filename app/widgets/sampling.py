"""Controls that choose which part of a graph to show."""

from __future__ import annotations

import streamlit as st

from analysis import names
from analysis.export import Sample
from analysis.subgraphs import SAMPLERS, Subgraph, sample_nodes, take
from analysis.subgraphs.sampling import DEFAULT_SIZE
from analysis.subgraphs.subgraph import class_names
from app.widgets import controls
from glt import formats
from glt.data import Graph
from glt.errors import ConfigError

SIZES = (50, 100, 150, 300, 600, 1000)
ABOUT_CENTRE = "A node by its number (or its own id): the sample grows around it, and it is pointed out."


def pick_sample(graph: Graph) -> Sample:
    """Choose kind, size and start of a sample; raises ConfigError for a node the graph does not have."""
    kinds = {name: sampler.label for name, sampler in SAMPLERS.items()}
    told = "  \n".join(f"**{sampler.label}**: {sampler.description}." for sampler in SAMPLERS.values())
    kind = controls.select("sample", "Sample", kinds, width=150, help=told)
    sizes = {str(size): formats.count(size) for size in SIZES}
    size = int(controls.select("size", "Nodes", sizes, str(DEFAULT_SIZE), width=96))
    label, centre = None, ""
    if SAMPLERS[kind].uses_label:
        classes = {str(place): word for place, word in enumerate(class_names(graph))}
        label = int(controls.select("class", "Class", classes, width=200))
    if SAMPLERS[kind].uses_center:
        centre = controls.text("node", "Centre", width=110, placeholder="any node", help=ABOUT_CENTRE)
    number = controls.number("draw", "Draw", 0, 0, 99, 1, width=110, help="Another number, another sample.")
    return Sample(kind, size, int(number), find_node(graph, centre) if centre else None, label)


def find_node(graph: Graph, text: str) -> int:
    """Return the index of the node a user names; raises ConfigError when the graph has none of that name."""
    if graph.node_ids is not None and text in graph.node_ids:
        return graph.node_ids.index(text)
    if text.isascii() and text.isdigit() and int(text) < graph.num_nodes:
        return int(text)
    raise ConfigError(
        f"There is no node {text!r} in {names.dataset(graph.name)}: give a number from 0 to {graph.num_nodes - 1}."
    )


def subgraph(graph: Graph, sample: Sample) -> Subgraph:
    """Return the sampled nodes and where they lie, from the cache when known."""
    return _subgraph(graph.content_hash, sample, graph)


@st.cache_resource(max_entries=64, show_spinner="Laying out the graph", hash_funcs={Sample: repr})
def _subgraph(content_hash: str, sample: Sample, _graph: Graph) -> Subgraph:
    return take(_graph, sample_nodes(_graph, sample.kind, sample.size, sample.seed, sample.center, sample.label))
