"""One round as it trains: scores and loss of every epoch, its stages one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from analysis import theme
from analysis.figure_text import escape
from glt.store import Event

VALIDATION = "#009E73"
TEST = "#CC79A7"


def training_figure(events: Sequence[Event], metric: str, dark: bool = False, height: int = 300) -> go.Figure:
    """Draw the events of one round: validation and test score (a `metric`) on the left axis, loss on the right one."""
    tone = theme.ink(dark)
    figure = go.Figure(layout={"template": theme.template(dark), "height": height})
    last = 1
    for number, (before, stage) in enumerate(stages(events)):
        figure.add_traces(list(_lines(stage, metric, before, tone, number == 0)))
        line = {"color": tone.axis, "width": 1, "dash": "dot"}
        figure.add_vline(x=before + 1, line=line, layer="below")
        font = {"size": 12, "color": tone.muted}
        place = {"x": before + 1, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "bottom", "xshift": 2}
        figure.add_annotation(text=escape(stage[0].stage), showarrow=False, font=font, **place)
        last = before + stage[-1].epoch + 1
    _axes(figure, metric, last)
    return figure


def stages(events: Sequence[Event]) -> list[tuple[int, list[Event]]]:
    """Return the stages in order, each with the number of epochs before it in the round.

    >>> one = Event(round=1, stage="search", epoch=9, loss=1.0, val=0.5, test=0.5)
    >>> [(before, len(stage)) for before, stage in stages([one, one.model_copy(update={"stage": "retrain"})])]
    [(0, 1), (10, 1)]
    """
    found: list[tuple[int, list[Event]]] = []
    before = 0
    for event in events:
        if not found or event.stage != found[-1][1][-1].stage:
            before += found[-1][1][-1].epoch + 1 if found else 0
            found.append((before, []))
        found[-1][1].append(event)
    return found


def _lines(stage: Sequence[Event], metric: str, before: int, tone: theme.Ink, in_legend: bool) -> Iterator[go.Scatter]:
    told = [f"{escape(event.stage)}, epoch {event.epoch + 1}" for event in stage]
    for name, values, ink, axis, unit in (
        ("Loss", [event.loss for event in stage], tone.muted, "y2", ""),
        (f"Validation {metric}", [100 * event.val for event in stage], VALIDATION, "y", " %"),
        (f"Test {metric}", [100 * event.test for event in stage], TEST, "y", " %"),
    ):
        yield go.Scatter(
            x=[before + event.epoch + 1 for event in stage],
            y=values,
            name=name,
            mode="lines",
            line={"color": ink, "width": 1.6, "dash": "dot" if axis == "y2" else "solid"},
            yaxis=axis,
            legendgroup=name,
            showlegend=in_legend,
            text=told,
            hovertemplate=f"%{{text}}<br>{name} %{{y:.3g}}{unit}<extra></extra>",
        )


def _axes(figure: go.Figure, metric: str, epochs: int) -> None:
    legend = {"orientation": "h", "x": 0, "y": 1.12, "yanchor": "bottom", "xanchor": "left"}
    figure.update_layout(legend=legend, margin={"t": 66, "b": 52, "l": 56, "r": 56}, hovermode="closest")
    figure.update_xaxes(title_text="Epoch of the round", range=[0, max(epochs, 2) + 1])
    right = {"overlaying": "y", "side": "right", "showgrid": False, "rangemode": "tozero", "nticks": 5}
    figure.update_layout(
        yaxis={"title": {"text": f"{metric[:1].upper()}{metric[1:]} (%)"}},
        yaxis2={**right, "title": {"text": "Loss"}, "tickmode": "auto", "tickformat": ".1f"},
    )
