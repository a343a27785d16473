"""Removed edges on the Subgraphs page: why an edge was cut, and who lost most."""

from __future__ import annotations

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
from analysis.labels import short_title
from analysis.removal import Way, edges_of, no_scores, removal_sentence, score_table
from analysis.removal.edges import degrees, no_classes
from analysis.removal.groups import DRAWS, FEW_DRAWS, MOST_EDGES, loss_table, sentences
from analysis.removal.scores import Decision
from analysis.subgraphs.panel import class_names, classes_of, has_classes, node_name
from app.components import charts, controls, frame, graph_select
from app.components.frame import plain
from app.components.graph_select import find_node
from app.data import cache
from glt import formats
from glt.datasets import Graph
from glt.masks import EdgeMask
from glt.store import Run

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


def all_edges(place: Place, table: pd.DataFrame) -> None:
    """Show the table of a node's edges, folded."""
    title = f"All {formats.count(len(table))} edges of node {plain(place.name(place.node))}"
    with st.expander(title, icon=":material/table_rows:"):
        edge_table(place, table)


def edge_table(place: Place, table: pd.DataFrame) -> None:
    """Show the table of a node's edges, those removed first on top."""
    about = f"The edges of node {place.name(place.node)}, those that went first on top"
    shown = _shown_edges(place, table.head(MOST_LISTED))
    st.dataframe(charts.cells(shown, COLUMNS), hide_index=True, key="edges", column_config=COLUMNS, alt=about)
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


SCALES = {"score": "Score", "rank": "Rank"}
ABOUT_NODE = "A node by number or id, or click one. Empty: the one of the sample with most neighbours."
ABOUT_NEIGHBOUR = (
    "An edge carries a message each way, and the mask has an entry for each. UGS learns a soft score for every entry; "
    "a round cuts those with the lowest."
)
ROUGH = "Bundled examples and runs on large graphs keep ranks in 256 steps instead of scores."


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
        charts.show(figure, "scores", title)
        st.caption(_legend(decided, ranks, rough))
        charts.numbers(figure, "scores", title)


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
        st.dataframe(charts.cells(numbers(table), _columns()), hide_index=True, key="losses", column_config=_columns())


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
    charts.show(screen.draw(described, frame.is_dark()), f"loss-{key}", title, config=CONFIG)


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
