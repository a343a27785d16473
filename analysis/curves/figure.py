"""Accuracy, or another task's score, against graph sparsity, weight sparsity or MACs."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from analysis import marks, theme
from analysis.crowd import crowd_styles
from analysis.curves.frame import HEIGHT, Frame
from analysis.curves.keys import keys
from analysis.curves.layers import paper_layer, run_layers
from analysis.curves.rules import annotate
from analysis.tables.curves import Score, XAxis
from glt.store import MacConvention


def accuracy_figure(  # noqa: PLR0913 - each is one choice of the reader, by keyword
    table: pd.DataFrame,
    rounds: pd.DataFrame,
    *,
    x: XAxis = "graph",
    score: Score = "test",
    macs: MacConvention = "dense_features",
    paper: bool = False,
    dark: bool = False,
    near: bool = True,
    seeds: bool = True,
) -> go.Figure:
    """Draw a `curve_table` over the `rounds_table` it came from (made with the same x, score and macs).

    A line and a 95% band a run, its `seeds` faint (both left out where more than four runs share a method), dense
    black with a dashed line, stars on tickets, marker area after MACs; with `paper`, the printed points as open
    markers. `near` ends the y axis 20 points below dense and names what falls deeper. A mark's customdata is
    [run, round], so that a click can open that round. Raises ConfigError for runs of several tasks.
    """
    printed = marks.paper_marks(table, x, macs) if paper else []
    of_paper = [*(mark.point.score for mark in printed), *(marks.paper_baselines(table) if paper else ())]
    crowd = crowd_styles(table)
    # Intervals widen the range by little: the line of a seed far from its mean would lie outside.
    of_seeds = rounds.loc[rounds["run"].isin(table["run"]), score] if seeds and not crowd else ()
    shown = marks.window(table, [*of_paper, *of_seeds], near)
    frame = Frame(table, rounds, x, score, macs, dark, shown, crowd=crowd)
    figure = go.Figure(layout={"template": theme.template(dark), "height": HEIGHT})
    figure.add_traces([*run_layers(frame, seeds), *paper_layer(frame, printed), *keys(frame, paper)])
    annotate(figure, frame, paper=paper, seeds=seeds)
    _axes(figure, frame)
    return figure


def _axes(figure: go.Figure, frame: Frame) -> None:
    figure.update_layout(hovermode="closest", hoverdistance=24)
    figure.update_xaxes(title_text=marks.x_title(frame.x, frame.macs))
    figure.update_yaxes(title_text=marks.score_title(frame.table, frame.score), range=list(frame.shown))
    if frame.x == "macs" and len(frame.table):
        drawn = marks.x_values("macs", frame.table["x"])
        ticks = marks.log_ticks(0.8 * drawn.min(), 1.25 * drawn.max())
        # Dense stays on the left, as on the other two axes: pruning always goes right.
        figure.update_xaxes(type="log", autorange="reversed")
        figure.update_xaxes(tickvals=ticks, ticktext=[f"{tick:g} M" for tick in ticks])
