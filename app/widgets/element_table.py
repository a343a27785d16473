"""Betweenness of every node and edge of one round, ranked, beside the original graph's, and degrees; on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pandas as pd
import streamlit as st

from analysis import names
from analysis.measures import MeasuredGraph
from analysis.measures.element_cache import known_betweenness
from analysis.measures.element_tables import Order, edge_table, node_table
from analysis.measures.elements import SAMPLE, Betweenness, seconds
from analysis.measures.ranks import spearman
from app.widgets import computing, controls, degree_spread, pickers, reading
from glt import formats
from glt.data import Graph
from glt.masks import EdgeMask
from glt.store import Run
from glt.training.tasks import message_graph

ELEMENTS = {"nodes": "Nodes", "edges": "Edges", "degrees": "Degrees"}
PRECISION = {"exact": "Exact", "sampled": "Sampled"}
ORDERS: dict[Order, str] = {"original": "Original", "pruned": "Pruned", "change": "Change"}
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


def show(found: list[Run]) -> None:
    """Show the ranked table, or how to get it."""
    choice = _choose(found)
    graph = message_graph(choice.run.config)
    mask = reading.edge_mask(choice.run, choice.seed, choice.round)
    whole = MeasuredGraph.of(graph)
    if choice.elements == "degrees":
        degree_spread.show(choice.run, choice.seed, choice.round, whole, mask)
        return
    pruned = whole.keeping(mask.either_way())
    before, after = known_betweenness(whole, choice.sample), known_betweenness(pruned, choice.sample)
    if before is None or after is None:
        left = [part for part, known in ((whole, before), (pruned, after)) if known is None]
        _compute(choice, pruned, sum(seconds(part, choice.sample) for part in left))
        return
    _ranking(choice, graph, mask, before, after)


def _choose(found: list[Run]) -> Choice:
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        run = pickers.pick_run(found, pickers.together(found)[0])
        seed = pickers.pick_seed(run)
        number = pickers.pick_round([run.seed(seed)])
        elements = controls.segments("elements", "Of", ELEMENTS)
        if elements == "degrees":
            return Choice(run, seed, number, elements, "original", None)
        order = cast("Order", controls.segments("rank", "Ranked by", cast("dict[str, str]", ORDERS)))
        precision = controls.segments("precision", "Shortest paths", PRECISION)
    return Choice(run, seed, number, elements, order, SAMPLE if precision == "sampled" else None)


def _compute(choice: Choice, pruned: MeasuredGraph, duration: float) -> None:
    place = [str(choice.run.path), "--round", str(choice.round), "--seed", str(choice.seed)]
    sample = [] if choice.sample is None else ["--sample", str(choice.sample)]
    arguments = ["analysis", "betweenness", *place, *sample, "--progress"]
    what = f"Betweenness in round {choice.round} of seed {choice.seed}"
    computing.panel(f"betweenness {pruned.content_hash} {choice.sample}", arguments, what, duration)


def _ranking(choice: Choice, graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness) -> None:
    make = node_table if choice.elements == "nodes" else edge_table
    table = make(graph, mask, before, after, choice.order)
    read = nodes_as_read(table) if choice.elements == "nodes" else edges_as_read(table)
    values = st.column_config.NumberColumn(format="%.6f")
    changes = st.column_config.NumberColumn(format="%+.6f")
    columns = {"Original": values, "Pruned": values, "Change": changes}
    st.dataframe(read.head(SHOWN), hide_index=True, key="elements-table", height=560, column_config=columns)
    st.caption(_caption(choice, graph, mask, before, after))


def nodes_as_read(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `node_table` under the words of the page."""
    return pd.DataFrame(
        {
            "Node": table["node"],
            "Class": ["unknown" if label < 0 else str(label) for label in table["label"]],
            "Neighbours": table["degree_original"],
            "Left": table["degree_pruned"],
            **_values(table),
        }
    )


def edges_as_read(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `edge_table` under the words of the page."""
    ends = [f"{low}, {high}" for low, high in zip(table["low"], table["high"], strict=True)]
    return pd.DataFrame({"Edge": ends, "Survives": table["survives"], **_values(table)})


def _values(table: pd.DataFrame) -> dict[str, pd.Series]:
    return {
        "Original": table["original"],
        "Pruned": table["pruned"],
        "Change": table["change"],
        "Rank, original": table["rank_original"].astype("Int64"),
        "Rank, pruned": table["rank_pruned"].astype("Int64"),
    }


def _caption(choice: Choice, graph: Graph, mask: EdgeMask, before: Betweenness, after: Betweenness) -> str:
    if choice.elements == "nodes":
        kept, total = spearman(before.nodes, after.nodes), graph.num_nodes
    else:
        kept, total = spearman(before.edges[mask.either_way()], after.edges), graph.num_edges
    part = f"the first {formats.count(SHOWN)} of" if total > SHOWN else "all"
    which = "of all nodes" if choice.elements == "nodes" else "of the surviving edges"
    return (
        f"{names.dataset(graph.name)}, round {choice.round}, seed {choice.seed}: {part} {formats.count(total)} "
        f"{choice.elements}. Order kept {which} (Spearman): {formats.signed_text(kept, 3)}. {how(before)} "
        "An edge counts when it survives in at least one direction; NetworkX's normalisation."
    )


def how(found: Betweenness) -> str:
    """Say how exact the values are."""
    if found.is_exact:
        return "Exact: shortest paths from every node."
    return (
        f"SAMPLED: shortest paths from {formats.count(found.sources)} nodes, scaled up; the order of nodes is nearly "
        "right, but single edges may be off by a fifth of the largest value."
    )
