"""The traces of a figure, from the ground up: bands, seeds, lines, rounds, stars, printed points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis import marks, palette
from analysis.curves import hover
from analysis.curves.frame import LARGEST_MARKER, Frame
from analysis.figure_text import escape

STAR_SIZE = 1.35 * LARGEST_MARKER
QUIET = {"hoverinfo": "skip", "showlegend": False}


def run_layers(frame: Frame, seeds: bool = True) -> Iterator[go.Scatter]:
    """Yield every run's traces, layer by layer, so that no run's stars lie under another's line."""
    spread = [] if frame.crowd else [_band, *([_seeds] if seeds else [])]
    for layer in (*spread, _line, _rounds, _dense, _tickets):
        for run, curve in frame.table.groupby("run", sort=False):
            style = frame.style(run, curve["method"].iloc[0])
            yield from layer(frame, style.color(frame.dark), curve.assign(run=run))


def paper_layer(frame: Frame, printed: Sequence[marks.PaperMark]) -> Iterator[go.Scatter]:
    """Yield the printed points of every method as open markers, stars by its own criterion: mean at least dense."""
    for method in dict.fromkeys(mark.point.method for mark in printed):
        mine = [mark for mark in printed if mark.point.method == method]
        ink = palette.color(method, frame.dark)
        symbols = [palette.TICKET_SYMBOL if mark.is_ticket else palette.style(method).symbol for mark in mine]
        yield go.Scatter(
            x=frame.place([mark.x for mark in mine]),
            y=[100 * mark.point.score for mark in mine],
            mode="markers",
            marker={
                "symbol": [f"{symbol}-open" for symbol in symbols],
                "size": [STAR_SIZE if mark.is_ticket else LARGEST_MARKER for mark in mine],
                "color": ink,
                "opacity": 1,
                "line": {"width": 2, "color": ink},
            },
            showlegend=False,
            **_hover([hover.paper_text(mark.point) for mark in mine], ink),
        )


def _band(frame: Frame, ink: str, curve: pd.DataFrame) -> Iterator[go.Scatter]:
    rows = curve.dropna(subset=["low", "high"])
    if rows.empty:
        return
    place = frame.place(rows["x"])
    yield go.Scatter(
        x=np.concatenate([place, place[::-1]]),
        y=100 * np.concatenate([rows["low"], rows["high"][::-1]]),
        fill="toself",
        fillcolor=palette.faded(ink, 0.16),
        mode="none",
        legendgroup=rows["run"].iloc[0],
        **QUIET,
    )


def _seeds(frame: Frame, ink: str, curve: pd.DataFrame) -> Iterator[go.Scatter]:
    run = curve["run"].iloc[0]
    xs: list[float | None] = []
    ys: list[float | None] = []
    for _, rows in frame.rounds[frame.rounds["run"] == run].groupby("seed"):
        xs += [*frame.place(rows[marks.x_column(frame.x, frame.macs)]), None]
        ys += [*(100 * rows[frame.score]), None]
    line = {"color": palette.faded(ink, 0.3), "width": 1}
    yield go.Scatter(x=xs, y=ys, mode="lines", line=line, legendgroup=run, **QUIET)


def _line(frame: Frame, ink: str, curve: pd.DataFrame) -> Iterator[go.Scatter]:
    first = curve.iloc[0]
    yield go.Scatter(
        x=frame.place(curve["x"]),
        y=100 * curve["mean"],
        mode="lines",
        name=escape(first["label"]),
        line={"color": ink, "width": 2.2, "dash": frame.dashes()[first["run"]]},
        legendgroup=first["run"],
        **QUIET,
    )


def _rounds(frame: Frame, ink: str, curve: pd.DataFrame) -> Iterator[go.Scatter]:
    rows = curve[(curve["round"] > 0) & ~curve["is_ticket"]]
    symbol = frame.style(curve["run"].iloc[0], curve["method"].iloc[0]).symbol
    yield from _points(frame, ink, rows, symbol, frame.size(rows["macs"]))


def _dense(frame: Frame, ink: str, curve: pd.DataFrame) -> Iterator[go.Scatter]:
    rows = curve[curve["round"] == 0]
    yield from _points(frame, palette.color(palette.DENSE, frame.dark), rows, "circle", frame.size(rows["macs"]))


def _tickets(frame: Frame, ink: str, curve: pd.DataFrame) -> Iterator[go.Scatter]:
    rows = curve[curve["is_ticket"]]
    size = STAR_SIZE * np.sqrt(marks.area_share(rows["macs"], frame.largest))
    # A star tells less area than a disc of its width and carries the message, so it never gets small.
    yield from _points(frame, ink, rows, palette.TICKET_SYMBOL, np.maximum(size, LARGEST_MARKER))


def _points(frame: Frame, ink: str, rows: pd.DataFrame, symbol: str, size: np.ndarray) -> Iterator[go.Scatter]:
    if rows.empty:
        return
    outline = {"color": frame.ink.ground, "width": 1}
    yield go.Scatter(
        x=frame.place(rows["x"]),
        y=100 * rows["mean"],
        mode="markers",
        marker={"symbol": symbol, "size": size, "color": ink, "opacity": 1, "line": outline},
        customdata=rows[["run", "round"]].to_numpy(dtype=object),
        legendgroup=rows["run"].iloc[0],
        showlegend=False,
        **_hover([hover.round_text(row) for row in rows.to_dict("records")], ink),
    )


def _hover(texts: list[str], ink: str) -> dict[str, Any]:
    return {"hovertext": texts, "hovertemplate": "%{hovertext}<extra></extra>", "hoverlabel": {"bordercolor": ink}}
