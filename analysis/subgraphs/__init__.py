"""Pictures of a part of the graph: which nodes, where they lie, what a round left of their edges, and the HTML."""

from __future__ import annotations

from analysis.subgraphs.counts import Counts
from analysis.subgraphs.html import panels_html
from analysis.subgraphs.panel import Panel, make_panel, original_panel
from analysis.subgraphs.sample import Sample
from analysis.subgraphs.samplers import SAMPLERS, Sampler
from analysis.subgraphs.sampling import sample_nodes
from analysis.subgraphs.subgraph import BACKWARD, BOTH, FORWARD, REMOVED, EdgeStates, Subgraph, edge_states, take

__all__ = [
    "BACKWARD",
    "BOTH",
    "FORWARD",
    "REMOVED",
    "SAMPLERS",
    "Counts",
    "EdgeStates",
    "Panel",
    "Sample",
    "Sampler",
    "Subgraph",
    "edge_states",
    "make_panel",
    "original_panel",
    "panels_html",
    "sample_nodes",
    "take",
]
