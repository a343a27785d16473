"""All rounds of all runs as points, and the Pareto front over them: the best score to be had at each cost."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis import marks, palette, theme
from analysis.crowd import MOST_POINTS, crowd_styles
from analysis.curves import hover
from analysis.curves.frame import Frame
from analysis.curves.keys import ticket_key
from analysis.figure_text import escape
from analysis.tables.curves import SUBJECT, Score, XAxis, dense_table
from glt import formats
from glt.store import MacConvention

HEIGHT = 420
QUIET, ON_FRONT = 0.35, 10.0
DENSE_SYMBOL = "circle"
FRONT = "Pareto front"
# Letters of whose dense line it is, so that its words leave most of a narrow figure to the points.
OWNER_LETTERS = 20


def pareto_figure(
    table: pd.DataFrame,
    rounds: pd.DataFrame,
    *,
    x: XAxis = "macs",
    score: Score = "test",
    macs: MacConvention = "dense_features",
    dark: bool = False,
) -> go.Figure:
    """Draw a `curve_table` with the column on_front (`with_front`), made with the same x, score and macs.

    A point a round: full on the front, faint where another mean is as high at no more cost; stars on tickets. The
    front is a stepped line, because nothing lies between two rounds. A point's customdata is [run, round]. Raises
    ConfigError for runs of several tasks.
    """
    crowd = crowd_styles(table, MOST_POINTS)
    frame = Frame(table, rounds, x, score, macs, dark, marks.window(table), crowd=crowd, sized=False)
    figure = go.Figure(layout={"template": theme.template(dark), "height": HEIGHT})
    figure.add_traces([*_fronts(frame), *_points(frame), *_keys(frame), *ticket_key(frame)])
    _baselines(figure, frame)
    _axes(figure, frame)
    return figure


def _fronts(frame: Frame) -> Iterator[go.Scatter]:
    """Yield a stepped line for every data set and network: up to the next cost, no more than this score is known."""
    for place, (_, curve) in enumerate(frame.table.groupby(SUBJECT, sort=False)):
        front = curve[curve["on_front"]].sort_values(["x", "mean"], ascending=[frame.x == "macs", True])
        yield go.Scatter(
            x=frame.place(front["x"]),
            y=100 * front["mean"],
            mode="lines",
            name=FRONT,
            # From one cost to the next, the score to be had is still the cheaper round's.
            line={"color": frame.ink.text, "width": 1.4, "shape": "hv"},
            hoverinfo="skip",
            legendgroup=FRONT,
            legendrank=1001,
            showlegend=not place,
        )


def _points(frame: Frame) -> Iterator[go.Scatter]:
    for run, curve in frame.table.groupby("run", sort=False):
        style = frame.style(run, curve["method"].iloc[0])
        ink, dense = style.color(frame.dark), curve["round"] == 0
        symbols = np.where(curve["is_ticket"], palette.TICKET_SYMBOL, np.where(dense, DENSE_SYMBOL, style.symbol))
        sizes = np.where(curve["is_ticket"], 1.6 * ON_FRONT, np.where(curve["on_front"], ON_FRONT, 0.7 * ON_FRONT))
        yield go.Scatter(
            x=frame.place(curve["x"]),
            y=100 * curve["mean"],
            mode="markers",
            showlegend=False,
            legendgroup=run,
            marker={
                "symbol": symbols,
                "size": sizes,
                "color": np.where(dense, palette.color(palette.DENSE, frame.dark), ink),
                "opacity": np.where(curve["on_front"], 1.0, QUIET),
                "line": {"color": frame.ink.ground, "width": 1},
            },
            customdata=curve[["run", "round"]].to_numpy(dtype=object),
            hovertext=[_text(row) for row in curve.to_dict("records")],
            hovertemplate="%{hovertext}<extra></extra>",
            hoverlabel={"bordercolor": ink},
        )


def _keys(frame: Frame) -> Iterator[go.Scatter]:
    for first in frame.table.drop_duplicates("run").to_dict("records"):
        style = frame.style(first["run"], first["method"])
        yield go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=escape(first["label"]),
            marker={"symbol": style.symbol, "size": ON_FRONT, "color": style.color(frame.dark)},
            legendgroup=first["run"],
        )


def _text(row: Mapping[Hashable, Any]) -> str:
    place = "On the Pareto front" if row["on_front"] else "Another mean is higher at no more cost"
    return f"{hover.round_text({str(name): value for name, value in row.items()})}<br>{place}"


def _baselines(figure: go.Figure, frame: Frame) -> None:
    ink = palette.color(palette.DENSE, frame.dark)
    for line in marks.baselines(dense_table(frame.rounds, frame.score)):
        owner = marks.cut(line.owner, OWNER_LETTERS)
        figure.add_hline(
            y=100 * line.mean,
            line={"color": ink, "width": 1.2, "dash": "dash"},
            layer="below",
            annotation={
                "text": escape(" ".join(filter(None, (line.name, owner, formats.percent(line.mean))))),
                "font": {"color": ink, "size": 13},
            },
            annotation_position="top right" if frame.x == "macs" else "top left",
        )


def _axes(figure: go.Figure, frame: Frame) -> None:
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom", "itemsizing": "trace"}
    figure.update_layout(
        hovermode="closest",
        legend=legend,
        legend2=legend | {"x": 1, "xanchor": "right", "font": {"color": frame.ink.muted}},
        margin={"t": 36, "b": 58},
    )
    figure.update_xaxes(title_text=marks.x_title(frame.x, frame.macs))
    figure.update_yaxes(title_text=marks.score_title(frame.table, frame.score), range=list(frame.shown))
    if frame.x == "macs" and len(frame.table):
        drawn = frame.place(frame.table["x"])
        ticks = marks.log_ticks(0.95 * drawn.min(), 1.05 * drawn.max())
        # Dense stays on the left, as on the other axes: pruning always goes right.
        figure.update_xaxes(
            type="log", autorange="reversed", tickvals=ticks, ticktext=[f"{tick:g} M" for tick in ticks]
        )
