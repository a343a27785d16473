"""Who loses by a round: shares of edges and nodes beside what chance would take at the same density."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.cuts.loss_figures import edge_loss_figure, node_loss_figure, pair_figure
from analysis.cuts.losses import DRAWS, FEW_DRAWS, MOST_EDGES, loss_table, sentences
from analysis.cuts.wording import no_classes
from analysis.subgraphs.subgraph import class_names, has_classes
from analysis.titles import short_title
from app.widgets import chart, files, frame, look, reading
from glt.data import Graph
from glt.store import Run

CONFIG = {"displaylogo": False, "displayModeBar": False}


def losers(run: Run, seed: int, number: int, graph: Graph) -> None:
    """Show who lost edges by the end of a round."""
    if reading.edge_mask(run, seed, number).either_way().all():
        frame.empty("Nobody loses yet", f"Round {number} leaves every edge in at least one direction.", "balance")
        return
    table = losses_of(run, seed, number, graph)
    st.markdown(" ".join(sentences(table)))
    if has_classes(graph):
        _by_class(run, graph, table)
    else:
        st.caption(f":material/info: {frame.plain(no_classes(graph))}")
        _chart("Edges cut by degree", "groups", edge_loss_figure(table, *_look(run)))
    st.caption(_caption(run, seed, number, graph))
    with st.expander("The numbers", icon=":material/table_rows:", key="loss-numbers"):
        st.dataframe(files.cells(numbers(table), _columns()), hide_index=True, key="losses", column_config=_columns())


def _by_class(run: Run, graph: Graph, table: pd.DataFrame) -> None:
    matrix, shares = st.columns(2, gap="medium")
    with matrix:
        title = "Edges cut by the classes of their ends, in percent"
        _chart(title, "pairs", pair_figure(table, class_names(graph), look.is_dark()))
        if (table["grouping"] == "class").any():
            _chart("Nodes left without an edge", "nodes", node_loss_figure(table, *_look(run)))
    with shares:
        _chart("Edges cut by class and degree", "groups", edge_loss_figure(table, *_look(run)))


def _look(run: Run) -> tuple[str, bool, str]:
    return run.config.method, look.is_dark(), run.annotation.color


def losses_of(run: Run, seed: int, number: int, graph: Graph) -> pd.DataFrame:
    """Return `loss_table` of a round, from the cache while no round is added."""
    return _losses(graph.content_hash, reading.stamp(run), seed, number, graph, run)


@st.cache_data(max_entries=64, show_spinner="Drawing graphs of equal density")
def _losses(content_hash: str, stamp: reading.Stamp, seed: int, number: int, _graph: Graph, _run: Run) -> pd.DataFrame:
    return loss_table(_graph, reading.edge_mask(_run, seed, number))


def _chart(title: str, key: str, figure: go.Figure) -> None:
    st.markdown(f"**{title}**")
    chart.show(figure, f"loss-{key}", title, config=CONFIG)


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


def _caption(run: Run, seed: int, number: int, graph: Graph) -> str:
    of_nodes = f", of nodes {FEW_DRAWS}" if graph.num_edges > MOST_EDGES else ""
    return (
        f"{frame.plain(short_title(run))}, seed {seed}, round {number}, whole graph. An edge is cut when neither "
        f"direction is left. By chance: {DRAWS} draws of as many undirected edges as this round keeps{of_nodes}. A "
        "star, or a full mark, is a share outside the middle 95 % of the draws; with so many groups one in twenty is "
        "so by chance."
    )
