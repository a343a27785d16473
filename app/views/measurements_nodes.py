"""Measurements per node and edge: ranked betweenness and degree distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
import streamlit as st

from analysis.drawing import screen
from analysis.figures.degrees import Degrees, degree_curves
from analysis.labels import dataset_label, short_title
from analysis.measures import MeasuredGraph, random_twins
from analysis.measures.basic import degree_counts, degree_gini
from analysis.measures.cache import known_betweenness
from analysis.measures.centrality import SAMPLE, Betweenness, spearman
from analysis.measures.compute import betweenness_seconds
from analysis.measures.tables import Order, edge_table, node_table, with_names
from analysis.style import palette
from analysis.subgraphs.panel import node_name
from app.components import charts, computation, controls, frame, graph_select, run_select, url_state
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
    "Exact and Sampled are computed by igraph, with NetworkX's normalisation. NetworkX: exact, by NetworkX itself."
)
ORDERS: dict[Order, str] = {"original": "Original", "pruned": "Pruned", "change": "Change"}
ORIGINAL, PRUNED, CHANGE = "Betweenness, original", "Betweenness, pruned", "Change of betweenness"
ENDS = {"nodes": ["node"], "edges": ["low", "high"]}
SHOWN = 1000


@dataclass(frozen=True)
class Choice:
    """One round of a seed, what is ranked, by what, and from how many sources."""

    run: Run
    seed: int
    round: int
    elements: str
    order: Order
    sample: int | None
    by_networkx: bool = False

    @property
    def place(self) -> str:
        """A key of this table."""
        how = "networkx" if self.by_networkx else self.sample
        return f"{self.run.reference} {self.seed} {self.round} {self.elements} {self.order} {how}"


def show_elements(found: list[Run]) -> None:
    """Show the ranked table, or how to get it."""
    choice = _choose(found)
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


def _choose(found: list[Run]) -> Choice:
    with frame.row("controls"):
        run = run_select.pick_run(found, run_select.together(found)[0])
        seed = run_select.pick_seed(run)
        number = run_select.pick_round([run.seed(seed)])
        elements = controls.segments("elements", "Elements", ELEMENTS)
        if elements == "degrees":
            return Choice(run, seed, number, elements, "original", None)
        order = cast("Order", controls.segments("rank", "Ranked by betweenness", cast("dict[str, str]", ORDERS)))
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
    st.caption(":material/ads_click: Mark a row to open it in Subgraphs.")
    event = st.dataframe(
        charts.cells(read, _columns()),
        hide_index=True,
        # A selection is kept by row number, so other rows need another key.
        placeholder=formats.MISSING,
        key=f"elements-table {choice.place}",
        height=560,
        column_config=_columns(),
        on_select="rerun",
        selection_mode="single-row",
    )
    for place in cast(Any, event).selection.rows:
        _lead(choice, graph, shown.iloc[place])
    frame.caption(*_caption(choice, graph, mask, before, after))


def _columns() -> dict[str, Any]:
    values = st.column_config.NumberColumn(format="%.6f")
    clustering = st.column_config.NumberColumn(format="%.3f")
    each = {"Clustering, original": clustering, "Clustering, pruned": clustering}
    return {**each, ORIGINAL: values, PRUNED: values, CHANGE: st.column_config.NumberColumn(format="%+.6f")}


def _lead(choice: Choice, graph: Graph, row: pd.Series) -> None:
    """Link to the node or edge of a row in Subgraphs."""
    ends = [node_name(graph, int(row[name])) for name in ENDS[choice.elements]]
    label = f"{'Node' if len(ends) == 1 else 'Edge'} {' to '.join(ends)} in Subgraphs"
    url_state.link("subgraphs", plain(label), ":material/hub:", **destination(choice, graph, row))


def destination(choice: Choice, graph: Graph, row: pd.Series) -> dict[str, str]:
    """Return the view of Subgraphs that explains a row of `node_table` or `edge_table` and draws its neighbourhood."""
    at, *to = (int(row[name]) for name in ENDS[choice.elements])
    view = {"run": choice.run.reference, "seed": str(choice.seed), "round": str(choice.round), "section": "why"}
    name = node_name(graph, at)
    return view | {"sample": "ego", "node": name, "at": name, "to": str(to[0]) if to else graph_select.ALL_NEIGHBOURS}


def nodes_as_read(graph: Graph, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `node_table` under the words of the page."""
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
    """Return the rows of `edge_table` under the words of the page."""
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
        f"{choice.elements}. Order kept {which} (Spearman): {formats.signed_text(kept, 3)}.",
        f"{before.precision_words()} An edge counts when it survives in at least one direction. Betweenness is the "
        "share of shortest paths between other nodes that run through a node or an edge, with NetworkX's "
        "normalisation.",
    )


def show_degrees(run: Run, seed: int, number: int, whole: MeasuredGraph, mask: EdgeMask) -> None:
    """Draw the three distributions, with their Gini coefficients in the caption."""
    method = run.config.method
    pruned, twin = (whole.keeping(each.either_way()) for each in (mask, random_twins([(seed, mask)], 1)[0]))
    described = degree_curves(
        [
            Degrees("Original", palette.DENSE, degree_counts(whole)),
            Degrees(short_title(run), method, degree_counts(pruned), color=run.annotation.color),
            Degrees("random, as dense", method, degree_counts(twin), "dot", run.annotation.color),
        ]
    )
    title = f"Share of nodes with at least so many neighbours, round {number}"
    figure = screen.draw(described, frame.is_dark())
    charts.show(figure, "degrees", title)
    ginis = ", ".join(formats.fixed(degree_gini(graph), 3) for graph in (whole, pruned, twin))
    st.caption(
        f"{dataset_label(run.config.dataset)}, round {number}, seed {seed}: the share of nodes that have at least so "
        f"many neighbours. Gini of degrees, in the order of the legend: {ginis}. Isolated nodes are what the curves "
        "lack at 1; dotted: one draw of as many undirected edges as the round kept."
    )
    charts.numbers(figure, "degrees", title)
