"""A measure of the graph over the rounds: a line and a band a run, its random twin dotted, the original dashed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis import marks, palette, theme
from analysis.crowd import crowd_styles
from analysis.curves.frame import DASHES
from analysis.figure_text import escape
from analysis.labels import own_styles
from analysis.measures import descriptions as wording
from analysis.statistics import seeds_words

TrendAxis = Literal["round", "kept"]
AXES: dict[TrendAxis, str] = {"round": "Round", "kept": "Undirected edges kept (%)"}
NULL = "random, as dense"
HEIGHT = 460


def trend_figure(table: pd.DataFrame, name: str, x: TrendAxis = "round", dark: bool = False) -> go.Figure:
    """Draw a `trend_table` of the measure or count `name`; pruning goes right on both axes, shares are in percent."""
    figure = go.Figure(layout={"template": theme.template(dark), "height": HEIGHT})
    figure.add_traces(list(_layers(table, name, x, dark)))
    _original(figure, table, name, dark)
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.03, "yanchor": "bottom", "font": {"size": 14}}
    figure.update_layout(legend=legend, margin={"t": 64, "b": 60, "r": 130}, hovermode="closest")
    figure.update_xaxes(title_text=AXES[x], autorange="reversed" if x == "kept" else True)
    figure.update_yaxes(title_text=wording.label(name) + (" (%)" if wording.is_share(name) else ""))
    return figure


def _layers(table: pd.DataFrame, name: str, x: TrendAxis, dark: bool) -> Iterator[go.Scatter]:
    crowd, own, dashes = crowd_styles(table), own_styles(table), marks.dash_of_run(table)
    runs = list(table.groupby(["run", "kind"], sort=False))
    for layer in (_band, _line):
        for (run, kind), rows in runs:
            style = own.get(str(run)) or crowd.get(str(run)) or palette.style(rows["method"].iloc[0])
            look = _Look(name, x, style.color(dark), style.symbol, "dot" if kind == "null" else DASHES[dashes[run]])
            if layer is _line or not crowd:
                yield from layer(rows, look, kind == "null")
    if (table["kind"] == "null").any():
        line = {"color": theme.ink(dark).muted, "width": 1.6, "dash": "dot"}
        yield go.Scatter(x=[None], y=[None], mode="lines", name=NULL, line=line, hoverinfo="skip")


class _Look:
    def __init__(self, name: str, x: TrendAxis, ink: str, symbol: str, dash: str) -> None:
        self.name, self.x, self.ink, self.symbol, self.dash = name, x, ink, symbol, dash

    def place(self, rows: pd.DataFrame) -> np.ndarray:
        return np.asarray(rows[self.x]) * (100.0 if self.x == "kept" else 1)

    def height(self, values: Any) -> np.ndarray:
        return np.asarray(values, dtype=np.float64) * (100.0 if wording.is_share(self.name) else 1.0)


def _band(rows: pd.DataFrame, look: _Look, null: bool) -> Iterator[go.Scatter]:
    known = rows.dropna(subset=["low", "high"])
    if known.empty:
        return
    place = look.place(known)
    yield go.Scatter(
        x=np.concatenate([place, place[::-1]]),
        y=look.height(np.concatenate([known["low"], known["high"][::-1]])),
        fill="toself",
        fillcolor=palette.faded(look.ink, 0.07 if null else 0.16),
        mode="none",
        legendgroup=rows["run"].iloc[0],
        hoverinfo="skip",
        showlegend=False,
    )


def _line(rows: pd.DataFrame, look: _Look, null: bool) -> Iterator[go.Scatter]:
    yield go.Scatter(
        x=look.place(rows),
        y=look.height(rows["mean"]),
        mode="lines" if null else "lines+markers",
        name=escape(rows["label"].iloc[0]),
        line={"color": look.ink, "width": 1.4 if null else 2.2, "dash": look.dash},
        marker={"symbol": look.symbol, "size": 7, "color": look.ink},
        legendgroup=rows["run"].iloc[0],
        showlegend=not null,
        hovertext=[_told(row, look.name) for row in rows.to_dict("records")],
        hovertemplate="%{hovertext}<extra></extra>",
        hoverlabel={"bordercolor": look.ink},
    )


def _told(row: dict[Any, Any], name: str) -> str:
    who = f"As many edges as <b>{escape(row['label'])}</b> kept, at random" if row["kind"] == "null" else ""
    who = who or f"<b>{escape(row['label'])}</b>"
    over = seeds_words(int(row["seeds"]), "draw" if row["kind"] == "null" else "seed")
    return "<br>".join(
        [
            f"{who}, round {row['round']}",
            f"{wording.label(name)} <b>{wording.interval(name, row['mean'], row['high'] - row['mean'])}</b> ({over})",
            f"Undirected edges kept, either way: {wording.value('edges_kept_either_way', row['kept'])}",
        ]
    )


def _original(figure: go.Figure, table: pd.DataFrame, name: str, dark: bool) -> None:
    value = float(table["original"].iloc[0])
    if np.isnan(value):
        return
    ink = palette.color(palette.DENSE, dark)
    height = 100 * value if wording.is_share(name) else value
    figure.add_hline(y=height, line={"color": ink, "width": 1.4, "dash": "dash"}, layer="below")
    text = f"Original<br>{wording.value(name, value)}"
    place = {"x": 1, "xref": "paper", "y": height, "xanchor": "left", "yanchor": "middle", "xshift": 8}
    figure.add_annotation(text=text, showarrow=False, align="left", font={"color": ink, "size": 13}, **place)
