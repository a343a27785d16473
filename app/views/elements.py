"""Betweenness of every node or edge of a round, ranked, and its degree distribution. Begin at `show_elements`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
import streamlit as st

from analysis import palette
from analysis.drawing import screen
from analysis.figures.degrees import Degrees, degree_curves
from analysis.labels import dataset_label, short_title
from analysis.measures.basic import degree_counts, degree_gini
from analysis.measures.cache import known_betweenness
from analysis.measures.centrality import SAMPLE, Betweenness, spearman
from analysis.measures.compute import betweenness_seconds
from analysis.measures.graph import MeasuredGraph
from analysis.measures.null_model import random_twins
from analysis.measures.tables import Order, edge_table, node_table, with_names
from analysis.subgraphs.panel import node_name
from app.components import computation, controls, frame, graph_select, run_select, url_state
from app.components.downloads import numbers_popover, show_figure, show_number_table
from app.components.frame import plain
from app.data import cache
from glt import formats
from glt.datasets import Graph
from glt.lottery.graph import graph_of
from glt.masks import EdgeMask
from glt.store import Run

ELEMENTS = {"nodes": "Nodes", "edges": "Edges", "degrees": "Degrees"}
PRECISION = {"exact": "Exact", "sampled": "Sampled", "networkx": "NetworkX"}
PRECISION_HELP = (
    "Exact and Sampled: computed by igraph, with NetworkX's normalisation. NetworkX: exact, computed by NetworkX."
)
ORDERS: dict[Order, str] = {"original": "Original", "pruned": "Pruned", "change": "Change"}
ORIGINAL, PRUNED, CHANGE = "Betweenness, original", "Betweenness, pruned", "Change in betweenness"
ENDS = {"nodes": ["node"], "edges": ["low", "high"]}
SHOWN = 1000


@dataclass(frozen=True)
class Choice:
    """One round of a seed; which elements are ranked, by what, and how exactly."""

    run: Run
    seed: int
    round: int
    elements: str
    order: Order
    sample: int | None
    by_networkx: bool = False

    @property
    def place(self) -> str:
        """Key of this table."""
        how = "networkx" if self.by_networkx else self.sample
        return f"{self.run.reference} {self.seed} {self.round} {self.elements} {self.order} {how}"


def show_elements(finished: list[Run]) -> None:
    """Show the ranked table, or offer to compute it."""
    choice = _choose(finished)
    graph = graph_of(choice.run.seed(choice.seed))
    mask = cache.edge_mask(choice.run, choice.seed, choice.round)
    whole = MeasuredGraph.of(graph)
    if choice.elements == "degrees":
        show_degrees(choice.run, choice.seed, choice.round, whole, mask)
        return
    pruned = whole.keeping(mask.either_way())
    before, after = (known_betweenness(part, choice.sample, choice.by_networkx) for part in (whole, pruned))
    if before is None or after is None:
        left = [part for part, known in ((whole, before), (pruned, after)) if known is None]
        _compute(choice, pruned, sum(betweenness_seconds(part, choice.sample, choice.by_networkx) for part in left))
        return
    _ranking(choice, graph, mask, before, after)


def _choose(finished: list[Run]) -> Choice:
    with frame.row("controls"):
        run = run_select.pick_run(finished, run_select.together(finished)[0])
        seed = run_select.pick_seed(run)
        number = run_select.pick_round(run.seed(seed).whole_rounds())
        elements = controls.segments("elements", "Elements", ELEMENTS)
        if elements == "degrees":
            return Choice(run, seed, number, elements, "original", None)
        order = cast("Order", controls.segments("rank", "Rank by betweenness", cast("dict[str, str]", ORDERS)))
        precision = controls.segments("precision", "Shortest paths", PRECISION, help=PRECISION_HELP)
    sample = SAMPLE if precision == "sampled" else None
    return Choice(run, seed, number, elements, order, sample, precision == "networkx")


def _compute(choice: Choice, pruned: MeasuredGraph, duration: float) -> None:
    place = [str(choice.run.path), "--round", str(choice.round), "--seed", str(choice.seed)]
    sample = [] if choice.sample is None else ["--sample", str(choice.sample)]
    engine = ["--engine", "networkx"] if choice.by_networkx else []
    arguments = ["analysis", "betweenness", *place, *sample, *engine, "--progress"]
    what = f"Betweenness in round {choice.round} of seed {choice.seed}"
    computation.panel(
        f"betweenness {pruned.content_hash} {choice.sample} {choice.by_networkx}", arguments, what, duration
    )


def _ranking(choice: Choice, graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness) -> None:
    make = node_table if choice.elements == "nodes" else edge_table
    table = make(graph, mask, before, after, choice.order)
    shown = table.head(SHOWN)
    read = nodes_as_read(graph, shown) if choice.elements == "nodes" else edges_as_read(graph, shown)
    st.caption(":material/ads_click: Select a row to open it in Subgraphs.")
    event = show_number_table(
        read,
        _columns(),
        # Streamlit keeps a selection by row number, so other rows need another key.
        placeholder=formats.MISSING,
        key=f"elements-table {choice.place}",
        height=560,
        on_select="rerun",
        selection_mode="single-row",
    )
    for place in cast(Any, event).selection.rows:
        _lead(choice, graph, shown.iloc[place])
    frame.caption(*_caption(choice, graph, mask, before, after))


def _columns() -> dict[str, Any]:
    values = st.column_config.NumberColumn(format="%.6f")
    clustering = st.column_config.NumberColumn(format="%.3f")
    columns = {"Clustering, original": clustering, "Clustering, pruned": clustering}
    return {**columns, ORIGINAL: values, PRUNED: values, CHANGE: st.column_config.NumberColumn(format="%+.6f")}


def _lead(choice: Choice, graph: Graph, row: pd.Series) -> None:
    ends = [node_name(graph, int(row[name])) for name in ENDS[choice.elements]]
    label = f"{'Node' if len(ends) == 1 else 'Edge'} {' to '.join(ends)} in Subgraphs"
    url_state.link("subgraphs", plain(label), ":material/hub:", **destination(choice, graph, row))


def destination(choice: Choice, graph: Graph, row: pd.Series) -> dict[str, str]:
    """Return the view of Subgraphs for a row of `node_table` or `edge_table`."""
    at, *to = (int(row[name]) for name in ENDS[choice.elements])
    view = {"run": choice.run.reference, "seed": str(choice.seed), "round": str(choice.round), "section": "why"}
    name = node_name(graph, at)
    return view | {"sample": "ego", "node": name, "at": name, "to": str(to[0]) if to else graph_select.ALL_NEIGHBOURS}


def nodes_as_read(graph: Graph, table: pd.DataFrame) -> pd.DataFrame:
    """Return `node_table` with the page's column names."""
    called = with_names(graph, table)
    return pd.DataFrame(
        {
            "Node": called["node"],
            **({"Class": called["class"]} if "class" in called else {}),
            "Neighbours": table["degree_original"],
            "Left": table["degree_pruned"],
            "Clustering, original": table["clustering_original"],
            "Clustering, pruned": table["clustering_pruned"],
            **_values(table),
        }
    )


def edges_as_read(graph: Graph, table: pd.DataFrame) -> pd.DataFrame:
    """Return `edge_table` with the page's column names."""
    pairs = zip(table["low"].tolist(), table["high"].tolist(), strict=True)
    ends = [f"{node_name(graph, low)}, {node_name(graph, high)}" for low, high in pairs]
    return pd.DataFrame({"Edge": ends, "Survives": table["survives"], **_values(table)})


def _values(table: pd.DataFrame) -> dict[str, pd.Series]:
    return {
        ORIGINAL: table["original"],
        PRUNED: table["pruned"],
        CHANGE: table["change"],
        "Rank, original": table["rank_original"].astype("Int64"),
        "Rank, pruned": table["rank_pruned"].astype("Int64"),
    }


def _caption(choice: Choice, graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness) -> tuple[str, str]:
    if choice.elements == "nodes":
        kept, total = spearman(before.nodes, after.nodes), graph.num_nodes
    else:
        kept, total = spearman(before.edges[mask.either_way()], after.edges), graph.num_edges
    part = f"the first {formats.count(SHOWN)} of" if total > SHOWN else "all"
    which = "of all nodes" if choice.elements == "nodes" else "of the surviving edges"
    return (
        f"{dataset_label(graph.name)}, round {choice.round}, seed {choice.seed}: {part} {formats.count(total)} "
        f"{choice.elements}. Rank correlation {which} (Spearman): {formats.signed_text(kept, 3)}.",
        f"{before.precision_words()} An edge counts if at least one direction survives. Betweenness is the share of "
        "shortest paths between other nodes that pass through a node or an edge, with NetworkX's normalisation.",
    )


def show_degrees(run: Run, seed: int, number: int, whole: MeasuredGraph, mask: EdgeMask) -> None:
    """Draw the degree distributions; the caption has their Gini coefficients."""
    method = run.config.method
    pruned, twin = (whole.keeping(kept.either_way()) for kept in (mask, random_twins([(seed, mask)], 1)[0]))
    described = degree_curves(
        [
            Degrees("Original", palette.DENSE, degree_counts(whole)),
            Degrees(short_title(run), method, degree_counts(pruned), color=run.annotation.color),
            Degrees("random, as dense", method, degree_counts(twin), "dot", run.annotation.color),
        ]
    )
    title = f"Share of nodes with at least k neighbours, round {number}"
    figure = screen.draw(described, frame.is_dark())
    show_figure(figure, "degrees", title)
    ginis = ", ".join(formats.fixed(degree_gini(graph), 3) for graph in (whole, pruned, twin))
    frame.caption(
        f"{dataset_label(run.config.dataset)}, round {number}, seed {seed}. Gini of degrees, in legend order: {ginis}.",
        "Share of nodes with at least k neighbours. Nodes missing at k = 1 are isolated. Dotted: one random draw of as "
        "many undirected edges as the round kept.",
    )
    numbers_popover(figure, "degrees", title)
