"""Subgraphs: the same part of the graph before and after pruning, and the whole graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from analysis import names
from analysis.shared_graph import shared_graph, training_part
from analysis.subgraphs import Panel, Subgraph, make_panel, original_panel, panels_html, take
from analysis.titles import short_title
from app.components import controls, frame, graph_select, run_select, url_state
from app.components.graph_select import RoundSample
from app.data import cache
from app.data.runs import opened
from app.views.subgraphs_edges import edge_story, losers
from glt import formats
from glt.data import Graph
from glt.data.graph import IntArray
from glt.errors import ConfigError, StudioError
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
        return graph_select.round_subgraph(self.graph, self.sample, self.run, self.seed, self.number)


def page() -> None:
    """Show the page."""
    with frame.page("Subgraphs", "The same nodes before and after pruning, in the same places."):
        found = run_select.with_rounds(opened().runs)
        if not found:
            run_select.tell_none_left("run")
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
        graph_select.listen(view.graph, nodes)


def _controls(found: list[Run]) -> View:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        run = run_select.pick_run(found)
        seed = run_select.pick_seed(run)
        graph = graph_of(run.seed(seed))
        number = run_select.pick_round([run.seed(seed)])
        beside = pick_compared(run, seed, found)
    with st.container(key="sample-controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        sample = graph_select.pick_round_sample(graph)
    run_select.tell_gone(BESIDE)
    graph_select.tell_unknown(graph, sample)
    return View(run, seed, number, beside, graph, sample)


def _panels(view: View) -> None:
    """Show the pictures, with the sample's centre pointed out until something is chosen in them."""
    part, centre = view.part, view.sample.sample.center
    html = document(view.graph, part, view.runs, view.seed, view.number, frame.is_dark(), HEIGHT, centre)
    st.iframe(html, height=HEIGHT, alt=alternative(view.graph, part, view.runs, view.seed, view.number))
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
    return graph_select.named_nodes(view.graph)


def _pick_told(view: View) -> Run:
    """Choose which of two runs side by side the section is about."""
    if view.beside is None:
        url_state.drop("whose")
        return view.run
    words = run_select.run_words(view.runs)
    name = controls.segments("whose", "What became of edges in", words, label_visibility="collapsed")
    return next(run for run in view.runs if run.reference == name)


def _caption(view: View, record: RoundRecord) -> str:
    run = view.run
    title = run_select.run_words([run])[run.reference]
    kept, both = formats.percent(record.edges_kept_either_way), formats.percent(record.edges_kept_both_ways)
    return (
        f"{frame.plain(title)}, seed {view.seed}, round {record.round}: graph sparsity "
        f"{formats.percent(record.graph_sparsity)}, undirected edges kept {kept} either way and {both} both ways; "
        f"weight sparsity {formats.percent(record.weight_sparsity)}; "
        f"test {names.metric(run.config.dataset, run.config.task)} {formats.percent(record.test)}. "
        f"{frame.plain(graph_select.describe(view.graph, view.sample))} "
        f"{training_part(run.config)}"
    )


BESIDE = "beside"
ABOUT_COMPARING = "A third panel: the same nodes in the same places, as the same seed of another run has them."


def pick_compared(run: Run, seed: int, found: Sequence[Run]) -> Run | None:
    """Choose another run on the same graph to stand beside this one, or none."""
    others = [other for other in found if other.reference != run.reference and _comparable(run, other, seed)]
    words = run_select.run_words(found)
    options = {"": "nothing", **{other.reference: words[other.reference] for other in others}}
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


def alternative(graph: Graph, part: Subgraph, runs: Sequence[Run], seed: int, number: int) -> str:
    """Say what the pictures show, with the numbers under them."""
    shown = [
        _panel(graph.content_hash, cache.stamp(run), part, seed, _last(run, seed, number), graph, run) for run in runs
    ]
    told = [f"{panel.title}: {'; '.join(panel.caption)}." for panel in (original_panel(graph, part), *shown)]
    return " ".join([f"{names.dataset(graph.name)}, the same nodes side by side.", *told])


def document(
    graph: Graph,
    part: Subgraph,
    runs: Sequence[Run],
    seed: int,
    number: int,
    dark: bool,
    height: int,
    selected: int | None = None,
) -> str:
    """Return the document of the original and of a round of each run, with the rounds before it to play."""
    rounds = tuple(_last(run, seed, number) for run in runs)
    stamps = cache.stamps(runs)
    nodes = part.nodes.tobytes()
    return _document(graph.content_hash, stamps, nodes, rounds, seed, dark, height, selected, graph, part, list(runs))


@st.cache_data(max_entries=48, show_spinner="Drawing the rounds")
def _document(
    content_hash: str,
    stamps: tuple[cache.Stamp, ...],
    nodes: bytes,
    rounds: tuple[int, ...],
    seed: int,
    dark: bool,
    height: int,
    selected: int | None,
    _graph: Graph,
    _part: Subgraph,
    _runs: list[Run],
) -> str:
    replay = [_rounds(_graph, _part, run, seed, last) for run, last in zip(_runs, rounds, strict=True)]
    original = original_panel(_graph, _part)
    shown = [original, *(panels[-1] for panels in replay)]
    return panels_html(shown, dark, height, selected, [[original], *replay])


def _rounds(graph: Graph, part: Subgraph, run: Run, seed: int, last: int) -> list[Panel]:
    return [_panel(graph.content_hash, cache.stamp(run), part, seed, k, graph, run) for k in range(last + 1)]


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs={Subgraph: lambda part: part.nodes.tobytes()})
def _panel(
    content_hash: str, stamp: cache.Stamp, part: Subgraph, seed: int, number: int, _graph: Graph, _run: Run
) -> Panel:
    before = cache.edge_mask(_run, seed, number - 1) if number else None
    title = f"{short_title(_run)}, round {number}"
    return make_panel(_graph, part, cache.edge_mask(_run, seed, number), title, before)


def _last(run: Run, seed: int, number: int) -> int:
    """Return the round to show of a run that may have fewer rounds than the one it stands beside."""
    return min(number, run.seed(seed).whole_rounds() - 1)


# Beyond so many a picture of all of them is a blot that takes minutes to lay out.
MOST_DRAWN = 200_000
# Browsers move more than this many lines only in jerks.
MOST_EDGES = 5000
WHOLE_HEIGHT = 700


def whole_graph(run: Run, seed: int, number: int, graph: Graph, part: Subgraph) -> None:
    """Show the whole graph after a round, with the sample marked; of a graph that is too large, say so."""
    if graph.num_edges > MOST_DRAWN:
        frame.empty(
            "Too large to be drawn whole",
            f"{names.dataset(graph.name)} has {formats.count(graph.num_edges)} edges, and above "
            f"{formats.count(MOST_DRAWN)} a picture of all of them shows nothing: draw other samples above, or see the "
            "whole in numbers on Measurements.",
            "blur_on",
        )
        return
    drawn = _whole_drawn(
        *_whole_key(run, seed, number, graph), frame.is_dark(), part.nodes.tobytes(), run, graph, part.nodes
    )
    alt = _whole_alt(run, seed, number, graph, part)
    if isinstance(drawn, str):
        st.iframe(drawn, height=WHOLE_HEIGHT, alt=alt)
    else:
        st.image(drawn, width="stretch", alt=alt)
    st.caption(_whole_caption(run, seed, number, graph, part))


def _whole_alt(run: Run, seed: int, number: int, graph: Graph, part: Subgraph) -> str:
    panel = _whole_panel(*_whole_key(run, seed, number, graph), run, graph)
    marked = f"{formats.count(part.nodes.size)} nodes of the sample are marked"
    return f"{names.dataset(graph.name)}, {_whole_title(run, number)}, seed {seed}. {panel.caption[1]}; {marked}"


def _whole_caption(run: Run, seed: int, number: int, graph: Graph, part: Subgraph) -> str:
    panel = _whole_panel(*_whole_key(run, seed, number, graph), run, graph)
    large = graph.num_edges > MOST_EDGES
    marked = f" The {formats.count(part.nodes.size)} nodes of the sample are {'large and ' if large else ''}outlined."
    why = f" Above {formats.count(MOST_EDGES)} edges the picture does not move." if large else ""
    fresh = ", strong those of this round" if panel.fresh.any() else ""
    title = frame.plain(_whole_title(run, number))
    return f"{title}, seed {seed}. {panel.caption[1]}. Removed edges are orange{fresh}.{marked}{why}"


def _whole_title(run: Run, number: int) -> str:
    return f"{short_title(run)}, round {number}"


WholeKey = tuple[str, cache.Stamp, int, int]


def _whole_key(run: Run, seed: int, number: int, graph: Graph) -> WholeKey:
    return graph.content_hash, cache.stamp(run), seed, number


@st.cache_resource(max_entries=4, show_spinner="Laying out the whole graph")
def _whole_layout(content_hash: str, _graph: Graph) -> Subgraph:
    return take(_graph, np.arange(_graph.num_nodes))


@st.cache_resource(max_entries=8, show_spinner=False)
def _whole_panel(content_hash: str, stamp: cache.Stamp, seed: int, number: int, _run: Run, _graph: Graph) -> Panel:
    before = cache.edge_mask(_run, seed, number - 1) if number else None
    mask = cache.edge_mask(_run, seed, number)
    return make_panel(_graph, _whole_layout(content_hash, _graph), mask, _whole_title(_run, number), before)


@st.cache_data(max_entries=16, show_spinner="Drawing the whole graph")
def _whole_drawn(
    content_hash: str,
    stamp: cache.Stamp,
    seed: int,
    number: int,
    dark: bool,
    sample: bytes,
    _run: Run,
    _graph: Graph,
    _nodes: IntArray,
) -> str | bytes:
    """Return a document to move about in, or above MOST_EDGES a picture."""
    panel = _whole_panel(content_hash, stamp, seed, number, _run, _graph)
    if _graph.num_edges > MOST_EDGES:
        # matplotlib takes half a second, which a page of a smaller graph need not wait for.
        from analysis.subgraphs.overview import overview_png

        return overview_png(panel, _nodes, dark)
    return panels_html([panel], dark, WHOLE_HEIGHT, marked=_nodes.tolist())
