"""The two rows above a figure: its runs, and what stars, open markers and sizes mean."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import plotly.graph_objects as go

from analysis import marks, palette
from analysis.curves.frame import Frame
from glt import formats


def keys(frame: Frame, paper: bool) -> Iterator[go.Scatter]:
    """Yield the traces that only stand in the legends."""
    dashes = frame.dashes()
    for first in frame.table.drop_duplicates("run").to_dict("records"):
        ink = palette.color(first["method"], frame.dark)
        yield go.Scatter(
            mode="lines+markers",
            name=escape(first["label"]),
            line={"color": ink, "width": 2.4, "dash": dashes[first["run"]]},
            marker={"symbol": palette.style(first["method"]).symbol, "size": 9, "color": ink},
            legendgroup=first["run"],
            **_NOWHERE,
        )
    if frame.table["is_ticket"].any():
        yield _key(frame, "ticket", palette.TICKET_SYMBOL, 15)
    if paper:
        yield _key(frame, "printed in the paper", "circle-open", 10)
    for share in marks.KEY_SHARES if len(frame.table) else ():
        count = share * frame.largest
        yield _key(frame, formats.macs(count) + " MACs", "circle", float(frame.size(count)))


_NOWHERE = {"x": [None], "y": [None], "hoverinfo": "skip"}


def _key(frame: Frame, name: str, symbol: str, size: float) -> go.Scatter:
    width = 1.6 if symbol.endswith("open") else 0
    marker = {"symbol": symbol, "size": size, "color": frame.ink.muted, "line": {"width": width}}
    return go.Scatter(mode="markers", name=name, marker=marker, legend="legend2", **_NOWHERE)
