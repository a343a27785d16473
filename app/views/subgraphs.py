"""Subgraphs: the same part of the graph before and after pruning, side by side, and why edges went."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from analysis import names
from analysis.shared_graph import training_part
from analysis.subgraphs import Subgraph
from app.widgets import address, controls, frame, look, panels, pickers, picking, sampling
from app.widgets.edge_story import edge_story
from app.widgets.losers import losers
from app.widgets.opened import opened
from app.widgets.sampling import RoundSample
from app.widgets.whole_graph import whole_graph
from glt import formats
from glt.data import Graph
from glt.errors import StudioError
from glt.store import RoundRecord, Run
from glt.tickets.graph import graph_of

HEIGHT = 660
SECTIONS = {"why": "Why was this edge cut?", "losers": "Who loses", "whole": "Whole graph"}


@dataclass(frozen=True, eq=False)
class View:
    """What the controls above the pictures say."""

    run: Run
    seed: int
    number: int
    beside: Run | None
    graph: Graph
    sample: RoundSample

    @property
    def runs(self) -> list[Run]:
        """The runs that have a panel."""
        return [self.run] if self.beside is None else [self.run, self.beside]

    @property
    def part(self) -> Subgraph:
        """The sampled part of the graph, laid out."""
        return sampling.round_subgraph(self.graph, self.sample, self.run, self.seed, self.number)


def page() -> None:
    """Show the page."""
    with frame.page("Subgraphs", "The same nodes before and after pruning, in the same places."):
        found = pickers.with_rounds(opened().runs)
        if not found:
            pickers.tell_none_left("run")
            frame.empty(
                "Nothing to draw yet",
                "Subgraphs appear as soon as a run has finished a round.",
                "hub",
                "launch",
                "Launch a run",
            )
            return
        view = _controls(found)
        pictures = st.container(key="pictures")
        nodes = _below(view)
        with pictures:
            _panels(view)
        picking.listen(view.graph, nodes)


def _controls(found: list[Run]) -> View:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        run = pickers.pick_run(found)
        seed = pickers.pick_seed(run)
        graph = graph_of(run.seed(seed))
        number = pickers.pick_round([run.seed(seed)])
        beside = panels.pick_compared(run, seed, found)
    with st.container(key="sample-controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        sample = sampling.pick_round_sample(graph)
    pickers.tell_gone(panels.BESIDE)
    sampling.tell_unknown(graph, sample)
    return View(run, seed, number, beside, graph, sample)


def _panels(view: View) -> None:
    """Show the pictures, with the sample's centre pointed out until something is chosen in them."""
    part, centre = view.part, view.sample.sample.center
    html = panels.document(view.graph, part, view.runs, view.seed, view.number, look.is_dark(), HEIGHT, centre)
    st.iframe(html, height=HEIGHT, alt=panels.alternative(view.graph, part, view.runs, view.seed, view.number))
    st.caption(_caption(view, view.run.seed(view.seed).rounds()[view.number]))


def _below(view: View) -> tuple[int, ...]:
    """Show one of the sections under the pictures and return the node or the ends of the edge that a reader chose.

    What cannot be shown is said here, so that the pictures stay.
    """
    try:
        return _section(view)
    except StudioError as error:
        frame.failure(str(error))
        return ()


def _section(view: View) -> tuple[int, ...]:
    with st.container(key="section-controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        section = controls.segments("section", "Under the pictures", SECTIONS, label_visibility="collapsed")
        run = _pick_told(view)
    number = min(view.number, run.seed(view.seed).whole_rounds() - 1)
    if section == "why":
        return edge_story(run, view.seed, number, view.graph, view.part.nodes)
    if section == "losers":
        losers(run, view.seed, number, view.graph)
    else:
        whole_graph(run, view.seed, number, view.graph, view.part)
    return picking.named(view.graph)


def _pick_told(view: View) -> Run:
    """Choose which of two runs side by side the section is about."""
    if view.beside is None:
        address.drop("whose")
        return view.run
    words = pickers.run_words(view.runs)
    name = controls.segments("whose", "What became of edges in", words, label_visibility="collapsed")
    return next(run for run in view.runs if run.reference == name)


def _caption(view: View, record: RoundRecord) -> str:
    run = view.run
    title = pickers.run_words([run])[run.reference]
    kept, both = formats.percent(record.edges_kept_either_way), formats.percent(record.edges_kept_both_ways)
    return (
        f"{frame.plain(title)}, seed {view.seed}, round {record.round}: graph sparsity "
        f"{formats.percent(record.graph_sparsity)}, undirected edges kept {kept} either way and {both} both ways; "
        f"weight sparsity {formats.percent(record.weight_sparsity)}; "
        f"test {names.metric(run.config.dataset, run.config.task)} {formats.percent(record.test)}. "
        f"{frame.plain(sampling.describe(view.graph, view.sample))} "
        f"{training_part(run.config)}"
    )
