"""Accuracy, or another task's score, against graph sparsity, weight sparsity or MACs, or all three as panels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import marks
from analysis.crowd import crowd_styles
from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, PaperFigure
from analysis.export.figures.curve_layers import Panel, draw_panel
from analysis.export.figures.legend import add_legend
from analysis.tables import curve_table, rounds_table
from analysis.tables.curve import XAxis
from glt.errors import StoreError
from glt.store import Run

THREE: tuple[XAxis, ...] = ("graph", "weight", "macs")
# Height of one panel by its width (inches), and what the legend takes.
WIDE_PANEL, PANEL_RATIO, WIDE_RATIO, LEGEND_HEIGHT = 4.5, 0.78, 0.5, 0.25


def accuracy(runs: Sequence[Run], choices: FigureChoices) -> Figure:
    """Draw runs over one axis or all three; raises StoreError without finished rounds, ConfigError for two tasks."""
    return accuracy_of(rounds_table(runs), choices)


def accuracy_of(rounds: pd.DataFrame, choices: FigureChoices) -> Figure:
    """Draw a `rounds_table` in the current matplotlib style."""
    if rounds.empty:
        raise StoreError("These runs have no finished round yet: wait for round 0, or choose other runs.")
    axes = THREE if choices.x == "all" else (choices.x,)
    across = len(axes) if choices.width > WIDE_PANEL else 1
    figure = Figure(figsize=(choices.width, _height(choices.width, len(axes), across)), layout="constrained")
    grid = figure.subplots(len(axes) // across, across, sharey=True, squeeze=False)
    panels = [_panel(rounds, x, choices) for x in axes]
    for place, (panel, area) in enumerate(zip(panels, grid.flat, strict=True)):
        draw_panel(area, panel)
        _titles(area, panel, place, len(axes), first=place % across == 0)
    add_legend(figure, panels[0])
    return figure


def _panel(rounds: pd.DataFrame, x: XAxis, choices: FigureChoices) -> Panel:
    table = curve_table(rounds, choices.score, x, choices.macs, choices.tolerance)
    printed = marks.paper_marks(table, x, choices.macs) if choices.paper else []
    # Every panel keeps room for what any of them shows, because they share the y axis.
    shown = marks.paper_marks(table, "graph", choices.macs) if choices.paper else []
    window = marks.window(table, [mark.point.score for mark in shown], choices.near)
    crowd = crowd_styles(table)
    return Panel(table, rounds, x, choices.score, choices.macs, printed, window, crowd=crowd)


def _titles(area: Axes, panel: Panel, place: int, count: int, first: bool) -> None:
    area.set_xlabel(marks.x_title(panel.x, panel.macs, short=True))
    if first:
        area.set_ylabel(marks.score_title(panel.table, panel.score))
    if count > 1:
        area.set_title(f"({'abc'[place]})", loc="left", fontweight="bold")


def _height(width: float, count: int, across: int) -> float:
    panel = width / across
    ratio = WIDE_RATIO if panel > WIDE_PANEL else PANEL_RATIO
    return LEGEND_HEIGHT + ratio * panel * (count // across)


FIGURES.register(PaperFigure("accuracy", "Test scores against sparsity or MACs", accuracy))
