"""The two rows above a figure: its runs, and what stars, open markers and sizes mean."""

from __future__ import annotations

from collections.abc import Iterator

import plotly.graph_objects as go

from analysis import marks, palette
from analysis.curves.frame import Frame
from analysis.figure_text import escape
from glt import formats, verdicts


def keys(frame: Frame, paper: bool) -> Iterator[go.Scatter]:
    """Yield the traces that only stand in the legends."""
    yield from run_keys(frame)
    yield from ticket_key(frame)
    if paper:
        yield _key(frame, "in the paper", "circle-open", 10)
    # A row that must wrap covers the one above it, so only the first size says what it counts.
    for place, share in enumerate(marks.KEY_SHARES if len(frame.table) else ()):
        count = share * frame.largest
        name = formats.macs(count) + ("" if place else " MACs")
        yield _key(frame, name, "circle", float(frame.size(count)))


def run_keys(frame: Frame) -> Iterator[go.Scatter]:
    """Yield one key a run."""
    dashes = frame.dashes()
    for first in frame.table.drop_duplicates("run").to_dict("records"):
        style = frame.style(first["run"], first["method"])
        ink = style.color(frame.dark)
        yield go.Scatter(
            mode="lines+markers",
            name=escape(first["label"]),
            line={"color": ink, "width": 2.4, "dash": dashes[first["run"]]},
            marker={"symbol": style.symbol, "size": 9, "color": ink},
            legendgroup=first["run"],
            **_NOWHERE,
        )


def ticket_key(frame: Frame) -> Iterator[go.Scatter]:
    """Yield the key of stars, where there are any."""
    if frame.table["is_ticket"].any():
        yield _key(frame, verdicts.key_words(float(frame.table["margin"].max())), palette.TICKET_SYMBOL, 15)


_NOWHERE = {"x": [None], "y": [None], "hoverinfo": "skip"}


def _key(frame: Frame, name: str, symbol: str, size: float) -> go.Scatter:
    width = 1.6 if symbol.endswith("open") else 0
    marker = {"symbol": symbol, "size": size, "color": frame.ink.muted, "line": {"width": width}}
    return go.Scatter(mode="markers", name=name, marker=marker, legend="legend2", **_NOWHERE)
