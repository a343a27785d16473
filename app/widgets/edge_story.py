"""Why an edge was cut: its scores over the rounds, what its ends have in common, and when each direction went."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from analysis.cuts import Way, edges_of, fate_sentence, no_scores, score_table
from analysis.cuts.decisions import Decision
from analysis.cuts.edges_of import degrees
from analysis.subgraphs.subgraph import classes_of, has_classes, node_name
from app.widgets import chart, controls, cutting, picking
from app.widgets.edge_table import MOST_LISTED, Place, all_edges, edge_table
from app.widgets.frame import plain
from app.widgets.sampling import find_node
from glt import formats
from glt.data import Graph
from glt.store import Run

SCALES = {"score": "Score", "rank": "Rank"}
ABOUT_NODE = "A node by its number (or its own id), or click one. Empty: the one of the sample with most neighbours."
ABOUT_NEIGHBOUR = (
    "An edge carries a message each way, and the mask has an entry for each. UGS learns a soft score for every entry; "
    "a round cuts those with the lowest."
)
ROUGH = "Bundled examples and runs on large graphs keep ranks in 256 steps instead of scores."


def edge_story(run: Run, seed: int, number: int, graph: Graph, nodes: np.ndarray) -> tuple[int, ...]:
    """Choose a node and one of its edges, and tell what became of it; `nodes` are those of the picture.

    Returns the node that was named, both ends of its edge when one is told about, or nothing.
    """
    start = int(nodes[degrees(graph)[nodes].argmax()])
    with st.container(key="edge-controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        placeholder = node_name(graph, start)
        text = controls.text("at", "Node", width=150, placeholder=placeholder, help=ABOUT_NODE)
        named = find_node(graph, text) if text else None
        about = () if named is None else (named,)
        place = Place(run, seed, number, graph, start if named is None else named)
        closeness = cutting.closeness_of(graph)
        fates, causes = cutting.fates_of(run, seed), cutting.causes_of(run, seed)
        table = edges_of(graph, closeness, place.node, fates, place.mask, causes)
        if table.empty:
            st.caption(f"Node {plain(place.name(place.node))} has no edge in the unpruned graph.")
            return about
        row = _pick_neighbour(place, table)
        decided = [] if row is None else cutting.decisions(run, seed)
        rough = any(decision.ranks for decision in decided)
        ranks = rough or not decided or controls.segments("scale", "Show its", SCALES) == "rank"
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
    words[picking.ALL] = f"all: its {formats.count(len(table))} edges" if len(table) > 1 else "all: its one edge"
    chosen = controls.select("to", "Its neighbour", words, width=420, help=ABOUT_NEIGHBOUR)
    return None if chosen == picking.ALL else table[table["neighbour"] == int(chosen)].iloc[0]


def _went(row: dict[str, int]) -> str:
    """Say in few words when an edge's directions went."""
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
        figure = cutting.scores_of(place.run, cutting.EdgeView(place.seed, int(row["edge"]), ways, ranks, place.number))
        title = f"{'Rank' if ranks else 'Score'} of both directions of the edge over the rounds"
        chart.show(figure, "scores", title)
        st.caption(_legend(decided, ranks, rough))
        chart.numbers(figure, "scores", title)


def _ways(place: Place, row: pd.Series) -> tuple[Way, Way]:
    """Return both directions, that from the lower node first, as scores have them."""
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
        told.append(fate_sentence(way, place.number, last, mine, cuts.get(way.gone or last, 0), rough))
    return told


def _ends(place: Place, row: pd.Series) -> pd.DataFrame:
    one, other = place.node, int(row["neighbour"])
    before, left = degrees(place.graph), degrees(place.graph, place.mask)
    closeness = cutting.closeness_of(place.graph)
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
    """Say how alike the features of both ends are; of dense ones not beside other edges, whose rows are not read."""
    closeness = cutting.closeness_of(place.graph)
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
    kind = "rank of the edge's score among those up for decision" if ranks else "soft score"
    blurred = sum(decision.blurred is not None for decision in decided)
    equal = (
        f"In {blurred} of {len(decided)} rounds cut and kept entries at the line are equal in the half precision in "
        "which scores are stored: a bar spans the ranks that are possible. "
    )
    return (
        f"The {kind}; a cross where it was cut, on the shaded ground of all that was cut. {equal if blurred else ''}"
        f"{ROUGH if rough else ''}"
    )
