"""Subgraphs: the same nodes before and after pruning, and what was removed; begin at `page`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.drawing import screen
from analysis.drawing.description import Description
from analysis.figures.losers import edge_losses, node_losses
from analysis.figures.pairs import pair_losses
from analysis.figures.scores import score_lines
from analysis.labels import dataset_label, metric_label, short_title
from analysis.removal import Way, edges_of, no_scores, removal_sentence, score_table
from analysis.removal.edges import degrees, no_classes
from analysis.removal.groups import DRAWS, FEW_DRAWS, MOST_EDGES, loss_table, sentences
from analysis.removal.scores import Decision
from analysis.runs import shared_graph, training_part
from analysis.subgraphs import Panel, Subgraph, make_panel, original_panel, panels_html, take
from analysis.subgraphs.panel import class_names, classes_of, has_classes, node_name
from app.components import controls, frame, graph_select, run_select, url_state
from app.components.downloads import cells, draw_numbers, show_figure
from app.components.frame import plain
from app.components.graph_select import RoundSample, find_node
from app.data import cache
from glt import formats
from glt.datasets import Graph
from glt.datasets.graph import IntArray
from glt.errors import ConfigError, StudioError
from glt.lottery.graph import graph_of
from glt.masks import EdgeMask
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
    frame.caption(*_picture_caption(view, view.run.seed(view.seed).rounds()[view.number]))


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


def _picture_caption(view: View, record: RoundRecord) -> tuple[str, str]:
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


# Why was this edge cut?

SCALES = {"score": "Score", "rank": "Rank"}
ABOUT_NODE = "A node by number or id, or click one. Empty: the one of the sample with most neighbours."
ABOUT_NEIGHBOUR = (
    "An edge carries a message each way, and the mask has an entry for each. UGS learns a soft score for every entry; "
    "a round cuts those with the lowest."
)
ROUGH = "Bundled examples and runs on large graphs keep ranks in 256 steps instead of scores."


@dataclass(frozen=True, eq=False)
class Place:
    """A node after a round of a seed."""

    run: Run
    seed: int
    number: int
    graph: Graph
    node: int

    @property
    def mask(self) -> EdgeMask:
        """The edge mask of the round that is shown."""
        return cache.edge_mask(self.run, self.seed, self.number)

    def name(self, node: int) -> str:
        """Return what users call a node."""
        return node_name(self.graph, node)

    def class_of(self, node: int) -> str:
        """Return a node's class in words."""
        return classes_of(self.graph, [node])[0]


def edge_story(run: Run, seed: int, number: int, graph: Graph, nodes: np.ndarray) -> tuple[int, ...]:
    """Choose a node and one of its edges, and explain its removal; `nodes` are those of the picture.

    Returns the node that was named, both ends of the edge that was chosen, or nothing.
    """
    start = int(nodes[degrees(graph)[nodes].argmax()])
    with frame.row("edge-controls"):
        placeholder = node_name(graph, start)
        text = controls.text("at", "Node", width=150, placeholder=placeholder, help=ABOUT_NODE)
        named = find_node(graph, text) if text else None
        about = () if named is None else (named,)
        place = Place(run, seed, number, graph, start if named is None else named)
        closeness = cache.closeness_of(graph)
        rounds, causes = cache.removal_rounds(run, seed), cache.removal_causes(run, seed)
        table = edges_of(graph, closeness, place.node, rounds, place.mask, causes)
        if table.empty:
            st.caption(f"Node {plain(place.name(place.node))} has no edge in the unpruned graph.")
            return about
        row = _pick_neighbour(place, table)
        decided = [] if row is None else cache.decisions(run, seed)
        rough = any(decision.ranks for decision in decided)
        ranks = rough or not decided or controls.segments("scale", "Scale", SCALES) == "rank"
    if row is None:
        edge_table(place, table)
        return about
    _tell(place, row, decided, ranks, rough)
    all_edges(place, table)
    return (*about, int(row["neighbour"])) if about else ()


def _pick_neighbour(place: Place, table: pd.DataFrame) -> pd.Series | None:
    """Choose one of the neighbours, or all of them (None)."""
    listed = table.head(MOST_LISTED)
    asked = table[table["neighbour"].astype(str) == st.session_state.get("to", st.query_params.get("to", ""))]
    listed = pd.concat([listed, asked]).drop_duplicates("neighbour") if len(table) > len(listed) else listed
    classes = classes_of(place.graph, listed["neighbour"].to_numpy())
    known = has_classes(place.graph)
    words = {
        str(row["neighbour"]): " · ".join([place.name(row["neighbour"]), *([label] if known else []), _went(row)])
        for row, label in zip(listed.to_dict("records"), classes, strict=True)
    }
    words[graph_select.ALL_NEIGHBOURS] = (
        f"all: its {formats.count(len(table))} edges" if len(table) > 1 else "all: its one edge"
    )
    chosen = controls.select("to", "Neighbour", words, width=420, help=ABOUT_NEIGHBOUR)
    return None if chosen == graph_select.ALL_NEIGHBOURS else table[table["neighbour"] == int(chosen)].iloc[0]


def _went(row: dict[str, int]) -> str:
    """Say when the directions of an edge were removed."""
    gone = sorted((row["sent"], row["received"]), key=lambda number: (number == 0, number))
    if gone[0] == 0:
        return "survives"
    if gone[0] == gone[1]:
        return f"gone in round {gone[0]}"
    return f"one way gone in round {gone[0]}" + (f", gone in round {gone[1]}" if gone[1] else "")


def _tell(place: Place, row: pd.Series, decided: list[Decision], ranks: bool, rough: bool) -> None:
    facts, picture = st.columns([5, 7], gap="medium")
    ways = _ways(place, row)
    with facts:
        for sentence in _sentences(place, row, ways, decided, rough):
            st.markdown(plain(sentence))
        st.table(_ends(place, row), border="horizontal", hide_index=True, width="stretch")
        st.caption(_together(place, row))
    with picture:
        if not decided:
            st.caption(f":material/info: {no_scores(place.run.config.method)}")
            return
        figure = _score_figure(place.run, place.seed, int(row["edge"]), ways, ranks, place.number, frame.is_dark())
        title = f"{'Rank' if ranks else 'Score'} of both directions of the edge over the rounds"
        show_figure(figure, "scores", title)
        st.caption(_legend(decided, ranks, rough))
        draw_numbers(figure, "scores", title)


@cache.cached(32, shared=True)
def _score_figure(
    run: Run, seed: int, edge: int, ways: tuple[Way, Way], ranks: bool, shown: int, dark: bool
) -> go.Figure:
    described = score_lines(
        cache.decisions(run, seed),
        edge,
        ways,
        ranks=ranks,
        shown=shown,
        method=run.config.method,
        color=run.annotation.color,
    )
    return screen.draw(described, dark)


def _ways(place: Place, row: pd.Series) -> tuple[Way, Way]:
    """Return both directions, the one from the lower node first, as in scores."""
    one, other = place.node, int(row["neighbour"])
    sent = Way(place.name(one), place.name(other), int(row["sent"]), row["sent_cause"])
    received = Way(place.name(other), place.name(one), int(row["received"]), row["received_cause"])
    return (sent, received) if one < other else (received, sent)


def _sentences(place: Place, row: pd.Series, ways: tuple[Way, Way], decided: list[Decision], rough: bool) -> list[str]:
    scores = score_table(decided, int(row["edge"]))
    last = place.run.seed(place.seed).whole_rounds() - 1
    cuts = {decision.round: decision.cuts for decision in decided}
    told = []
    for number, way in enumerate(ways):
        # An undirected mask decides on both directions with one score.
        mine = scores[scores["way"] == min(number, max(scores["way"].nunique() - 1, 0))]
        told.append(removal_sentence(way, place.number, last, mine, cuts.get(way.gone or last, 0), rough))
    return told


def _ends(place: Place, row: pd.Series) -> pd.DataFrame:
    one, other = place.node, int(row["neighbour"])
    before, left = degrees(place.graph), degrees(place.graph, place.mask)
    closeness = cache.closeness_of(place.graph)
    told = {"": ["Class", f"Degree, original → round {place.number}"]}
    for end in (one, other):
        degree = f"{formats.count(before[end])} → {formats.count(left[end])}"
        told[plain(place.name(end))] = [plain(place.class_of(end)), degree]
    if closeness.counts_words:
        cells = ["Features not zero", *map(formats.count, closeness.features_set[[one, other]])]
        for column, cell in zip(told.values(), cells, strict=True):
            column.append(cell)
    return pd.DataFrame(told)


def _together(place: Place, row: pd.Series) -> str:
    same = _classes(place, row)
    return f"In common: {same}; {_neighbours(place, row)}; {_alike(place, row)}."


def _classes(place: Place, row: pd.Series) -> str:
    if min(place.graph.labels[[place.node, int(row["neighbour"])]]) < 0:
        return "classes unknown"
    return "the same class" if row["same_class"] else "different classes"


def _alike(place: Place, row: pd.Series) -> str:
    """Say how similar the features of both ends are; dense features are not ranked among all edges."""
    closeness = cache.closeness_of(place.graph)
    if not closeness.counts_words:
        return f"features at a cosine of {formats.fixed(row['cosine'], 3)}"
    jaccards = closeness.jaccard_of_edges
    return _features(row, float((jaccards < row["jaccard"]).mean()) if jaccards.size else 0.0)


def _neighbours(place: Place, row: pd.Series) -> str:
    if not row["common_neighbours"]:
        return "no neighbour"
    neighbours = formats.number_of(row["common_neighbours"], "neighbour")
    return f"{neighbours}, {row['common_neighbours_left']} left in round {place.number}"


def _features(row: pd.Series, less: float) -> str:
    """Say which features both ends share, and the share of edges whose ends share a smaller part of theirs."""
    if not row["common_features"]:
        return "no feature (Jaccard 0)"
    most = f", more than {formats.percent(less)} of the edges of the graph" if less else ""
    features = formats.number_of(row["common_features"], "feature")
    return f"{features} not zero, {formats.fixed(row['jaccard'], 3)} of all that either has (Jaccard){most}"


def _legend(decided: list[Decision], ranks: bool, rough: bool) -> str:
    kind = "rank of the edge's score among the remaining ones" if ranks else "soft score"
    blurred = sum(decision.blurred is not None for decision in decided)
    equal = (
        f"In {blurred} of {len(decided)} rounds cut and kept entries at the line are equal in the half precision in "
        "which scores are stored: a bar spans the ranks that are possible. "
    )
    return (
        f"The {kind}; a cross where it was cut, on the shaded ground of all that was cut. {equal if blurred else ''}"
        f"{ROUGH if rough else ''}"
    )


ABOUT_JACCARD = (
    "The features that both ends have, out of all that either has: 1 when they are alike, 0 with none shared."
)
ABOUT_COSINE = "The cosine of the angle between the features of both ends: 1 when they point the same way."
ABOUT_CAUSE = (
    "gradient: the training loss depended on the mask of this entry in the search that removed it. no gradient: it did "
    "not, so the rank is the noise of the start. random: drawn. solver: set to zero by ADMM."
)
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("Cause, to it", "Cause, from it"), st.column_config.TextColumn(help=ABOUT_CAUSE)),
    "Jaccard": st.column_config.NumberColumn(format="%.3f", help=ABOUT_JACCARD),
    "Cosine": st.column_config.NumberColumn(format="%.3f", help=ABOUT_COSINE),
}
# Edges of a hub that are listed: those removed first.
MOST_LISTED = 1000
ALIKE = {"common_features": "Common features", "jaccard": "Jaccard", "cosine": "Cosine"}


def all_edges(place: Place, table: pd.DataFrame) -> None:
    """Show the table of a node's edges, folded."""
    title = f"All {formats.count(len(table))} edges of node {plain(place.name(place.node))}"
    with st.expander(title, icon=":material/table_rows:"):
        edge_table(place, table)


def edge_table(place: Place, table: pd.DataFrame) -> None:
    """Show the table of a node's edges, those removed first on top."""
    about = f"The edges of node {place.name(place.node)}, those that went first on top"
    shown = _shown_edges(place, table.head(MOST_LISTED))
    st.dataframe(cells(shown, COLUMNS), hide_index=True, key="edges", column_config=COLUMNS, alt=about)
    if len(table) > MOST_LISTED:
        st.caption(f"The first {formats.count(MOST_LISTED)} of {formats.count(len(table))}: those that went first.")


def _causes(table: pd.DataFrame, column: str, title: str) -> dict[str, pd.Series]:
    """Return the causes of one direction under the words of the page; none where no cause is known."""
    return {title: table[column]} if table[column].notna().any() else {}


def _shown_edges(place: Place, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `edges_of` under the words of the page; a direction that survives has no round."""
    classes = {"Class": classes_of(place.graph, table["neighbour"].to_numpy()), "Same class": table["same_class"]}
    return pd.DataFrame(
        {
            "Neighbour": [place.name(node) for node in table["neighbour"]],
            **(classes if has_classes(place.graph) else {}),
            "Message to it removed in round": table["sent"].where(table["sent"] > 0),
            **_causes(table, "sent_cause", "Cause, to it"),
            "Message from it removed in round": table["received"].where(table["received"] > 0),
            **_causes(table, "received_cause", "Cause, from it"),
            "Degree": table["degree"],
            f"Degree, round {place.number}": table["degree_left"],
            "Common neighbours": table["common_neighbours"],
            **{word: table[name] for name, word in ALIKE.items() if name in table},
        }
    )


# Who loses.

CONFIG = {"displaylogo": False, "displayModeBar": False}


def losers(run: Run, seed: int, number: int, graph: Graph) -> None:
    """Show the shares of edges and nodes lost by class and degree, beside those of random graphs."""
    if cache.edge_mask(run, seed, number).either_way().all():
        frame.empty("No edge is gone yet", f"Round {number} leaves every edge in at least one direction.", "balance")
        return
    table = _losses(graph, run, seed, number)
    st.markdown(" ".join(sentences(table)))
    if has_classes(graph):
        _by_class(run, graph, table)
    else:
        st.caption(f":material/info: {frame.plain(no_classes(graph))}")
        _chart("Edges cut by degree", "groups", edge_losses(table, *_look(run)))
    frame.caption(*_caption(run, seed, number, graph))
    with st.expander("The numbers", icon=":material/table_rows:", key="loss-numbers"):
        st.dataframe(cells(numbers(table), _columns()), hide_index=True, key="losses", column_config=_columns())


def _by_class(run: Run, graph: Graph, table: pd.DataFrame) -> None:
    matrix, shares = st.columns(2, gap="medium")
    with matrix:
        title = "Edges cut by the classes of their ends, in percent"
        _chart(title, "pairs", pair_losses(table, class_names(graph)))
        if (table["grouping"] == "class").any():
            _chart("Nodes left without an edge", "nodes", node_losses(table, *_look(run)))
    with shares:
        _chart("Edges cut by class and degree", "groups", edge_losses(table, *_look(run)))


def _look(run: Run) -> tuple[str, str]:
    return run.config.method, run.annotation.color


@cache.cached(64, spinner="Drawing graphs of equal density")
def _losses(graph: Graph, run: Run, seed: int, number: int) -> pd.DataFrame:
    return loss_table(graph, cache.edge_mask(run, seed, number))


def _chart(title: str, key: str, described: Description) -> None:
    st.markdown(f"**{title}**")
    show_figure(screen.draw(described, frame.is_dark()), f"loss-{key}", title, config=CONFIG)


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return `loss_table` under the words of the page, in percent."""
    return pd.DataFrame(
        {
            "Of": table["kind"],
            "By": table["grouping"].str.replace("_", " "),
            "Group": table["name"],
            "Size": table["size"],
            "Lost": table["lost"],
            **{word: 100 * table[name] for word, name in SHARES.items()},
        }
    )


SHARES = {"Lost, %": "share", "By chance": "null", "from": "null_low", "to": "null_high"}


def _columns() -> dict[str, Any]:
    return {word: st.column_config.NumberColumn(format="%.1f %%") for word in SHARES}


def _caption(run: Run, seed: int, number: int, graph: Graph) -> tuple[str, str]:
    of_nodes = f", of nodes {FEW_DRAWS}" if graph.num_edges > MOST_EDGES else ""
    return (
        f"{frame.plain(short_title(run))}, seed {seed}, round {number}, whole graph. A star or filled mark: outside "
        "95 % of random draws.",
        f"An edge is cut when neither direction is left. By chance: {DRAWS} draws of as many undirected edges as this "
        f"round keeps{of_nodes}. A star, or a filled mark, is a share outside the middle 95 % of the draws; by chance "
        "one group in twenty is.",
    )


# Whole graph.

# A picture of more edges shows nothing and takes minutes to lay out.
MOST_DRAWN = 200_000
# Browsers cannot move more lines smoothly.
MOST_DRAWN_EDGES = 5000
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
    large = graph.num_edges > MOST_DRAWN_EDGES
    fresh = ", strong those of this round" if panel.fresh.any() else ""
    still = f" Above {formats.count(MOST_DRAWN_EDGES)} edges the picture does not move." if large else ""
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
    if graph.num_edges > MOST_DRAWN_EDGES:
        # matplotlib takes half a second, which a page of a smaller graph need not wait for.
        from analysis.subgraphs.overview import overview_png

        return overview_png(panel, sample, dark)
    return panels_html([panel], dark, WHOLE_HEIGHT, marked=sample.tolist())
