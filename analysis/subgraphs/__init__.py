"""Pictures of subgraphs: samples of nodes, their layout, the edges that a round keeps, and HTML."""

from __future__ import annotations

from analysis.subgraphs.html import panels_html
from analysis.subgraphs.panel import (
    BACKWARD,
    BOTH,
    FORWARD,
    REMOVED,
    Counts,
    EdgeStates,
    Panel,
    Subgraph,
    edge_states,
    make_panel,
    original_panel,
    take,
)
from analysis.subgraphs.samplers import SAMPLERS, Sample, Sampler, sample_nodes

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
