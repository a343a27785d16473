"""Subgraphs: the same part of the graph before and after pruning, side by side."""

from __future__ import annotations

import streamlit as st

from analysis import names, palette
from analysis.export import Sample
from analysis.shared_graph import training_part
from analysis.subgraphs import SAMPLERS, make_panel, original_panel, panels_html
from app.widgets import frame, look, pickers, reading, sampling
from app.widgets.opened import opened
from glt import formats
from glt.data import Graph
from glt.store import RoundRecord, Run
from glt.training.tasks import message_graph

HEIGHT = 660


def page() -> None:
    """Show the page."""
    with frame.page("Subgraphs", "The same nodes before and after pruning, in the same places."):
        found = pickers.with_rounds(opened().results)
        if not found:
            frame.empty(
                "Nothing to draw yet",
                "Subgraphs appear as soon as a run has finished a round.",
                "hub",
                "launch",
                "Launch a run",
            )
            return
        with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
            run = pickers.pick_run(found)
            seed = pickers.pick_seed(run)
            graph = message_graph(run.config)
            number = pickers.pick_round([run.seed(seed)])
            sample = sampling.pick_sample(graph)
        _panels(run, seed, number, graph, sample)


def _panels(run: Run, seed: int, number: int, graph: Graph, sample: Sample) -> None:
    part = sampling.subgraph(graph, sample)
    title = f"{palette.label(run.config.method)}, round {number}"
    pruned = make_panel(graph, part, reading.edge_mask(run, seed, number), title)
    html = panels_html([original_panel(graph, part), pruned], look.is_dark(), HEIGHT, sample.center)
    st.iframe(html, height=HEIGHT, alt=f"{names.dataset(graph.name)}: original and {title}, side by side")
    st.caption(_caption(run, seed, run.seed(seed).rounds()[number], sample))


def _caption(run: Run, seed: int, record: RoundRecord, sample: Sample) -> str:
    kept, both = formats.percent(record.edges_kept_either_way), formats.percent(record.edges_kept_both_ways)
    return (
        f"{pickers.run_title(run)}, seed {seed}, round {record.round}: graph sparsity "
        f"{formats.percent(record.graph_sparsity)}, undirected edges kept {kept} either way and {both} both ways; "
        f"weight sparsity {formats.percent(record.weight_sparsity)}; "
        f"test {names.metric(run.config.task)} {formats.percent(record.test)}. "
        f"Sample: {SAMPLERS[sample.kind].label.lower()}, draw {sample.seed}. "
        f"{training_part(run.config)}"
    )
