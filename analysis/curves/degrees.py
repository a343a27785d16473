"""The degree distribution, before and after pruning: which share of nodes has at least so many neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from analysis import marks, palette, theme
from analysis.figure_text import escape
from glt import formats
from glt.datasets.graph import IntArray

HEIGHT = 460


@dataclass(frozen=True)
class Degrees:
    """One graph's curve: what to call it, whose colour it has (its method's or its own), [k] nodes of degree k."""

    label: str
    method: str
    counts: IntArray
    dash: str = "solid"
    color: str = ""


def degree_figure(graphs: Sequence[Degrees], dark: bool = False) -> go.Figure:
    """Draw the share of nodes of every graph with at least k neighbours over k, both logarithmic (from k = 1)."""
    figure = go.Figure(layout={"template": theme.template(dark), "height": HEIGHT})
    figure.add_traces(list(_lines(graphs, dark)))
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.03, "yanchor": "bottom", "font": {"size": 14}}
    figure.update_layout(legend=legend, margin={"t": 64, "b": 60}, hovermode="closest")
    most = max((graph.counts.size for graph in graphs), default=0)
    figure.update_xaxes(type="log", title_text="Neighbours, at least", **_ticks(1.0, max(float(most), 2.0)))
    figure.update_yaxes(type="log", title_text="Share of nodes (%)", tickformat="~g", dtick=1)
    return figure


def _ticks(low: float, high: float) -> dict[str, list[float] | list[str]]:
    ticks = list(marks.log_ticks(low, high))
    return {"tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def _lines(graphs: Sequence[Degrees], dark: bool) -> Iterator[go.Scatter]:
    for graph in graphs:
        at_least = 100 * np.cumsum(graph.counts[::-1])[::-1][1:] / max(graph.counts.sum(), 1)
        style = palette.painted(graph.method, graph.color)
        yield go.Scatter(
            x=np.arange(1, graph.counts.size),
            y=at_least,
            mode="lines",
            name=escape(graph.label),
            line={"color": style.color(dark), "width": 2.2, "dash": graph.dash, "shape": "vh"},
            hovertext=[formats.figures(share, 3) for share in at_least],
            hovertemplate=(
                f"<b>{escape(graph.label)}</b><br>%{{hovertext}} % of nodes have %{{x}} or more<extra></extra>"
            ),
        )
