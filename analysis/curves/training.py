"""One round as it trains: scores and loss of every epoch, its stages one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from analysis import theme
from analysis.curves.thinning import drawn_places
from analysis.figure_text import escape
from glt import formats

VALIDATION = "#009E73"
TEST = "#CC79A7"
# Points of a stage's line: a few a dot of a screen.
MOST_DRAWN = 900
# A loss that rises to so many times its first value is drawn on a logarithmic axis; no loss of classes begins above the
# second number by itself.
STEEP, HIGHEST_FIRST = 50.0, 10.0
MOST_TICKS = 5
# Plotly writes powers larger than other numbers.
SMALL = {"size": 11}


def training_figure(epochs: pd.DataFrame, metric: str, dark: bool = False, height: int = 300) -> go.Figure:
    """Draw the `epochs_table` of a round: validation and test score (a `metric`) on the left axis, loss on the right.

    A stage of more epochs than `MOST_DRAWN` goes through the lowest and highest values of every stretch of it.
    """
    tone = theme.ink(dark)
    figure = go.Figure(layout={"template": theme.template(dark), "height": height})
    for number, (name, stage) in enumerate(epochs.groupby("stage", sort=False)):
        figure.add_traces(list(_lines(str(name), stage, metric, tone, number == 0)))
        line = {"color": tone.axis, "width": 1, "dash": "dot"}
        start = int(stage["at"].iloc[0] - stage["epoch"].iloc[0] + 1)
        figure.add_vline(x=start, line=line, layer="below")
        font = {"size": 12, "color": tone.muted}
        place = {"x": start, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "bottom", "xshift": 2}
        figure.add_annotation(text=escape(str(name)), showarrow=False, font=font, **place)
    _axes(figure, metric, int(epochs["at"].max()) if len(epochs) else 1)
    figure.update_layout(yaxis2=_loss_axis(epochs["loss"].to_numpy()))
    return figure


def is_thinned(epochs: pd.DataFrame) -> bool:
    """Say whether the picture passes over epochs of a round."""
    return bool((epochs["stage"].value_counts() > MOST_DRAWN).any())


def _lines(name: str, stage: pd.DataFrame, metric: str, tone: theme.Ink, in_legend: bool) -> Iterator[go.Scatter]:
    drawn = stage.iloc[drawn_places(stage[["loss", "val", "test"]], MOST_DRAWN)]
    for title, values, ink, axis, unit in (
        ("Loss", drawn["loss"], tone.muted, "y2", ""),
        (f"Validation {metric}", 100 * drawn["val"], VALIDATION, "y", " %"),
        (f"Test {metric}", 100 * drawn["test"], TEST, "y", " %"),
    ):
        yield go.Scatter(
            x=drawn["at"].to_numpy(),
            y=values.to_numpy(),
            name=title,
            mode="lines",
            line={"color": ink, "width": 1.6, "dash": "dot" if axis == "y2" else "solid"},
            yaxis=axis,
            legendgroup=title,
            showlegend=in_legend,
            customdata=drawn["epoch"].to_numpy(),
            hovertext=[formats.figures(value, 3) for value in values],
            hovertemplate=f"{escape(name)}, epoch %{{customdata}}<br>{title} %{{hovertext}}{unit}<extra></extra>",
        )


def _axes(figure: go.Figure, metric: str, epochs: int) -> None:
    legend = {"orientation": "h", "x": 0, "y": 1.12, "yanchor": "bottom", "xanchor": "left"}
    figure.update_layout(legend=legend, margin={"t": 66, "b": 52, "l": 56, "r": 56}, hovermode="closest")
    figure.update_xaxes(title_text="Epoch of the round", range=[0, max(epochs, 2) + 1])
    figure.update_layout(yaxis={"title": {"text": f"{metric[:1].upper()}{metric[1:]} (%)"}})


def _loss_axis(losses: npt.NDArray[np.float64]) -> dict[str, object]:
    """Return the right axis: from 0 up, or by powers of ten where a loss that jumps would press the others flat."""
    right = {"overlaying": "y", "side": "right", "showgrid": False, "tickmode": "auto", "exponentformat": "power"}
    finite = losses[np.isfinite(losses)]
    if not len(finite) or finite.min() <= 0 or finite.max() <= STEEP * min(finite[0], HIGHEST_FIRST):
        return {**right, "title": {"text": "Loss"}, "rangemode": "tozero", "nticks": MOST_TICKS}
    powers = math.ceil(math.log10(finite.max() / finite.min()) / MOST_TICKS)
    ticks = {"type": "log", "tickmode": "linear", "dtick": powers, "tickfont": SMALL}
    return {**right, "title": {"text": "Loss (log scale)"}, **ticks}
