"""Subgraphs: the same part of the graph before and after pruning, and the whole graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from analysis.labels import dataset_label, metric_label, short_title
from analysis.runs import shared_graph, training_part
from analysis.subgraphs import Panel, Subgraph, make_panel, original_panel, panels_html, take
from app.components import controls, frame, graph_select, run_select, url_state
from app.components.graph_select import RoundSample
from app.data import cache
from app.views.subgraphs_edges import edge_story, losers
from glt import formats
from glt.datasets import Graph
from glt.datasets.graph import IntArray
from glt.errors import ConfigError, StudioError
from glt.lottery.graph import graph_of
from glt.store import RoundRecord, Run

HEIGHT = 660
SECTIONS = {"why": "Why was this edge cut?", "losers": "Who loses", "whole": "Whole graph"}


@dataclass(frozen=True, eq=False)
class View:
    """The choices above the pictures."""

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
        return graph_select.round_subgraph(self.graph, self.sample, self.run, self.seed, self.number)


def page() -> None:
    """Show the page."""
    with frame.page("Subgraphs", "The same nodes before and after pruning, in the same places."):
        found = run_select.finished_runs(
            "run", "Nothing to draw yet", "Subgraphs appear as soon as a run has finished a round.", "hub"
        )
        if not found:
            return
        view = _controls(found)
        pictures = st.container(key="pictures")
        nodes = _below(view)
        with pictures:
            _panels(view)
        graph_select.listen(view.graph, nodes)


def _controls(found: list[Run]) -> View:
    with frame.row("controls"):
        run = run_select.pick_run(found)
        seed = run_select.pick_seed(run)
        graph = graph_of(run.seed(seed))
        number = run_select.pick_round([run.seed(seed)])
        beside = pick_compared(run, seed, found)
    with frame.row("sample-controls"):
        sample = graph_select.pick_round_sample(graph)
    run_select.tell_gone(BESIDE)
    graph_select.tell_unknown(graph, sample)
    return View(run, seed, number, beside, graph, sample)


def _panels(view: View) -> None:
    """Show the pictures; the sample's centre is marked until something is chosen in them."""
    part, centre = view.part, view.sample.sample.center
    rounds = [min(view.number, run.seed(view.seed).whole_rounds() - 1) for run in view.runs]
    html = _document(view.graph, part, view.runs, rounds, view.seed, frame.is_dark(), centre)
    st.iframe(html, height=HEIGHT, alt=_alternative(view, rounds))
    frame.caption(*_caption(view, view.run.seed(view.seed).rounds()[view.number]))


def _below(view: View) -> tuple[int, ...]:
    """Show the section under the pictures, and return the chosen node or both ends of the chosen edge.

    Errors are shown here, so that the pictures stay.
    """
    try:
        return _section(view)
    except StudioError as error:
        frame.failure(str(error))
        return ()


def _section(view: View) -> tuple[int, ...]:
    with frame.row("section-controls"):
        section = controls.segments("section", "Under the pictures", SECTIONS, label_visibility="collapsed")
        run = _pick_told(view)
    number = min(view.number, run.seed(view.seed).whole_rounds() - 1)
    if section == "why":
        return edge_story(run, view.seed, number, view.graph, view.part.nodes)
    if section == "losers":
        losers(run, view.seed, number, view.graph)
    else:
        whole_graph(run, view.seed, number, view.graph, view.part)
    return graph_select.named_nodes(view.graph)


def _pick_told(view: View) -> Run:
    """Choose which of two runs side by side the section is about."""
    if view.beside is None:
        url_state.drop("whose")
        return view.run
    words = run_select.run_words(view.runs)
    name = controls.segments("whose", "Edges of", words, label_visibility="collapsed")
    return next(run for run in view.runs if run.reference == name)


def _caption(view: View, record: RoundRecord) -> tuple[str, str]:
    run = view.run
    title = run_select.run_words([run])[run.reference]
    kept, both = formats.percent(record.edges_kept_either_way), formats.percent(record.edges_kept_both_ways)
    metric = metric_label(run.config.dataset, run.config.task)
    return (
        f"{frame.plain(title)}, seed {view.seed}, round {record.round}: graph sparsity "
        f"{formats.percent(record.graph_sparsity)}, weight sparsity {formats.percent(record.weight_sparsity)}, "
        f"test {metric} {formats.percent(record.test)}.",
        f"Undirected edges kept: {kept} either way, {both} both ways. "
        f"{frame.plain(graph_select.describe(view.graph, view.sample))} {training_part(run.config)}",
    )


BESIDE = "beside"
ABOUT_COMPARING = "Adds a panel: the same nodes, from the same seed of another run."


def pick_compared(run: Run, seed: int, found: Sequence[Run]) -> Run | None:
    """Choose another run on the same graph to stand beside this one, or none."""
    others = [other for other in found if other.reference != run.reference and _comparable(run, other, seed)]
    words = run_select.run_words(found)
    options = {"": "No other run", **{other.reference: words[other.reference] for other in others}}
    run_select.gone_from(BESIDE, options)
    changed = run_select.let_go(BESIDE)
    chosen = controls.optional(BESIDE, "Compare with", options, width=240, help=ABOUT_COMPARING, on_change=changed)
    return next((other for other in others if other.reference == chosen), None)


def _comparable(run: Run, other: Run, seed: int) -> bool:
    if seed not in other.seeds() or not other.seed(seed).whole_rounds():
        return False
    try:
        shared_graph([run, other], "A comparison")
    except ConfigError:
        return False
    return True


def _alternative(view: View, rounds: Sequence[int]) -> str:
    """Say what the pictures show, with the numbers under them."""
    shown = [_panel(view.graph, view.part, run, view.seed, last) for run, last in zip(view.runs, rounds, strict=True)]
    words = [f"{each.title}: {'; '.join(each.caption)}." for each in (original_panel(view.graph, view.part), *shown)]
    return " ".join([f"{dataset_label(view.graph.name)}, the same nodes side by side.", *words])


@cache.cached(48, spinner="Drawing the rounds")
def _document(
    graph: Graph, part: Subgraph, runs: list[Run], rounds: list[int], seed: int, dark: bool, selected: int | None
) -> str:
    """Return the document of the original and of a round of each run, with the rounds before it to play."""
    original = original_panel(graph, part)
    replay = [
        [_panel(graph, part, run, seed, number) for number in range(last + 1)]
        for run, last in zip(runs, rounds, strict=True)
    ]
    shown = [original, *(panels[-1] for panels in replay)]
    return panels_html(shown, dark, HEIGHT, selected, [[original], *replay])


@cache.cached(512, shared=True)
def _panel(graph: Graph, part: Subgraph, run: Run, seed: int, number: int) -> Panel:
    return _new_panel(graph, part, run, seed, number)


def _new_panel(graph: Graph, part: Subgraph, run: Run, seed: int, number: int) -> Panel:
    before = cache.edge_mask(run, seed, number - 1) if number else None
    return make_panel(graph, part, cache.edge_mask(run, seed, number), f"{short_title(run)}, round {number}", before)


# A picture of more edges shows nothing and takes minutes to lay out.
MOST_DRAWN = 200_000
# Browsers cannot move more lines smoothly.
MOST_EDGES = 5000
WHOLE_HEIGHT = 700


def whole_graph(run: Run, seed: int, number: int, graph: Graph, part: Subgraph) -> None:
    """Show the whole graph after a round, with the sample marked; of a graph that is too large, say so."""
    dataset = dataset_label(graph.name)
    if graph.num_edges > MOST_DRAWN:
        frame.empty(
            "Too large to be drawn whole",
            f"{dataset} has {formats.count(graph.num_edges)} edges; at most {formats.count(MOST_DRAWN)} are drawn. "
            "Draw a sample above, or see Measurements.",
            "blur_on",
        )
        return
    drawn = _whole_drawn(graph, run, seed, number, frame.is_dark(), part.nodes)
    panel = _whole_panel(graph, run, seed, number)
    about, marked = f"{panel.title}, seed {seed}. {panel.caption[1]}", formats.count(part.nodes.size)
    alt = f"{dataset}, {about}; {marked} nodes of the sample are marked"
    if isinstance(drawn, str):
        st.iframe(drawn, height=WHOLE_HEIGHT, alt=alt)
    else:
        st.image(drawn, width="stretch", alt=alt)
    large = graph.num_edges > MOST_EDGES
    fresh = ", strong those of this round" if panel.fresh.any() else ""
    still = f" Above {formats.count(MOST_EDGES)} edges the picture does not move." if large else ""
    st.caption(
        f"{frame.plain(panel.title)}, seed {seed}. {panel.caption[1]}. Removed edges are orange{fresh}. The {marked} "
        f"nodes of the sample are {'large and ' if large else ''}outlined.{still}"
    )


@cache.cached(4, spinner="Laying out the whole graph", shared=True)
def _layout(graph: Graph) -> Subgraph:
    return take(graph, np.arange(graph.num_nodes))


@cache.cached(8, shared=True)
def _whole_panel(graph: Graph, run: Run, seed: int, number: int) -> Panel:
    return _new_panel(graph, _layout(graph), run, seed, number)


@cache.cached(16, spinner="Drawing the whole graph")
def _whole_drawn(graph: Graph, run: Run, seed: int, number: int, dark: bool, sample: IntArray) -> str | bytes:
    """Return a document that can be moved, or above MOST_EDGES a picture."""
    panel = _whole_panel(graph, run, seed, number)
    if graph.num_edges > MOST_EDGES:
        # matplotlib takes half a second, which a page of a smaller graph need not wait for.
        from analysis.subgraphs.overview import overview_png

        return overview_png(panel, sample, dark)
    return panels_html([panel], dark, WHOLE_HEIGHT, marked=sample.tolist())
