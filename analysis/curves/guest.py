"""A ticket that is none of the store's, drawn as one more mark into the picture of the store's rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from analysis import marks, theme
from analysis.tables.curves import XAxis
from glt import formats

NAME = "Ticket file"
AT: Mapping[XAxis, str] = {"graph": "graph_sparsity", "weight": "weight_sparsity", "macs": "macs.dense_features"}
SIZE = 19


def with_guest(figure: go.Figure, stated: Mapping[str, Any], score: float, x: XAxis, dark: bool = False) -> go.Figure:
    """Return a copy of a figure with a ticket as a ring.

    `stated` are its numbers by name (see AT), fractions and plain counts; `score` is its test score, a fraction.
    """
    ink = theme.ink(dark)
    drawn = go.Figure(figure)
    drawn.add_scatter(
        x=marks.x_values(x, [stated[AT[x]]]).tolist(),
        y=[100 * score],
        mode="markers",
        name=NAME,
        legendrank=1002,
        marker={"symbol": "circle-open", "size": SIZE, "color": ink.text, "line": {"width": 2.5, "color": ink.text}},
        hovertext=f"<b>{NAME}</b><br><b>{formats.percent(score)}</b><br>{_numbers(stated)}",
        hovertemplate="%{hovertext}<extra></extra>",
    )
    low, high = drawn.layout.yaxis.range or (100 * score, 100 * score)
    drawn.update_yaxes(range=[min(low, 100 * score - 1), max(high, 100 * score + 1)])
    return drawn


def _numbers(stated: Mapping[str, Any]) -> str:
    shares = f"{formats.percent(stated[AT['graph']])} graph, {formats.percent(stated[AT['weight']])} weight sparsity"
    return f"{shares}<br>{formats.macs(stated[AT['macs']])} MACs"
