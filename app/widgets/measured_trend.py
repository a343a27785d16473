"""One measure over the rounds of the chosen runs, as a picture with its numbers under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import names
from analysis.curves import trend_figure
from analysis.curves.trend import TrendAxis
from analysis.measures import explanation, in_order, wording
from analysis.shared_graph import by_graph
from analysis.tables.caption import averaged_over
from app.widgets import chart, controls, files, frame, look, measuring, reading
from glt import formats
from glt.store import Run

FIRST = "average_clustering"
AXES = {"round": "Round", "kept": "Edges kept"}
COUNTS = ("entries_kept", "edges_kept_either_way", "edges_kept_both_ways")


@dataclass(frozen=True)
class Trend:
    """What the controls say: the measure and the axis it is drawn over."""

    name: str
    x: TrendAxis


def choose() -> Trend:
    """Choose the measure and the axis."""
    options = {name: wording.label(name) for name in COUNTS}
    options |= {measure.name: measure.label for measure in in_order() if measure.cost != "background"}
    name = controls.select("measure", "Measure", options, FIRST, width=270)
    return Trend(name, cast("TrendAxis", controls.segments("over", "Over", AXES)))


def show(runs: list[Run], trend: Trend, null: bool) -> None:
    """Draw the trend on every graph that these runs are on; what must be measured first shows how far it is."""
    graphs = by_graph(runs)
    for name, chosen in graphs.items():
        if not measuring.is_trend_ready(chosen, trend.name, null):
            continue
        if len(graphs) > 1:
            st.subheader(frame.plain(name), anchor=False)
        _one_graph(chosen, trend, null, f"-{name}" if len(graphs) > 1 else "")


def _one_graph(runs: list[Run], trend: Trend, null: bool, key: str) -> None:
    table = measuring.trend_of(runs, trend.name, null)
    figure = _figure(reading.stamps(runs), trend, null, look.is_dark(), table)
    words = wording.label(trend.name)
    chart.show(figure, f"trend{key}", f"{words} over the rounds")
    st.caption(_caption(runs, trend, table))
    with st.expander("The numbers", icon=":material/table_rows:", key=f"trend-numbers{key}"):
        st.dataframe(files.cells(numbers(table, trend.name)), hide_index=True, height=320)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs={Trend: repr})
def _figure(stamps: tuple[reading.Stamp, ...], trend: Trend, null: bool, dark: bool, _table: pd.DataFrame) -> go.Figure:
    return trend_figure(_table, trend.name, trend.x, dark)


def numbers(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows of `trend_table` under the words of the page, as numbers that sort; shares in percent."""
    scale = 100.0 if wording.is_share(name) else 1.0
    unit = " (%)" if wording.is_share(name) else ""
    graphs = [
        f"Random, as dense as {label}" if kind == "null" else label
        for kind, label in zip(table["kind"], table["label"], strict=True)
    ]
    return pd.DataFrame(
        {
            "Graph": graphs,
            "Round": table["round"],
            "Edges kept, either way (%)": [formats.rounded(100 * kept, 1) for kept in table["kept"]],
            wording.label(name) + unit: scale * table["mean"],
            "95% interval, ±": scale * (table["high"] - table["mean"]),
            "Seeds": table["seeds"],
        }
    )


def _caption(runs: list[Run], trend: Trend, table: pd.DataFrame) -> str:
    mine = table[table["kind"] == "run"]
    parts = [
        f"{names.dataset(runs[0].config.dataset)}, rounds 0 to {mine['round'].max()}: {averaged_over(mine['seeds'])}",
        "dashed: the original graph",
    ]
    if (table["kind"] == "null").any():
        parts.append("dotted: as many undirected edges as each run kept, drawn at random (five draws or one a seed)")
    if "error" in table:
        parts.append(wording.estimated([trend.name]).removesuffix("."))
    return "; ".join(parts) + f". {frame.plain(explanation(trend.name).definition)}"
