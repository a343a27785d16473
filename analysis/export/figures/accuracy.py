"""Accuracy, or another task's score, against graph sparsity, weight sparsity or MACs, or all three as panels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from analysis import marks
from analysis.crowd import crowd_styles
from analysis.export.choices import FigureChoices
from analysis.export.figures.base import (
    CURVE,
    FIGURES,
    Drawing,
    Keys,
    PaperFigure,
    rounds_caption,
)
from analysis.export.figures.curve_layers import Panel, draw_panel
from analysis.export.figures.legend import mark_keys, run_keys
from analysis.runs import must_have_rows
from analysis.tables import curve_table, rounds_table
from analysis.tables.curves import XAxis
from glt.store import Run

# From which width on (inches) panels stand side by side, and the height of one by its width.
WIDE_PANEL, PANEL_RATIO, WIDE_RATIO = 4.5, 0.78, 0.5


def accuracy(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan runs over one axis or all three; raises StoreError without finished rounds, ConfigError for two tasks."""
    rounds = must_have_rows(rounds_table(runs))
    axes = choices.axes
    panels = [_panel(rounds, x, choices) for x in axes]
    across = len(axes) if width > WIDE_PANEL else 1

    def fill(figure: FigureBase) -> Keys:
        grid = figure.subplots(len(axes) // across, across, sharey=True, squeeze=False)
        for place, (panel, area) in enumerate(zip(panels, grid.flat, strict=True)):
            draw_panel(area, panel)
            _titles(area, panel, place, len(axes), first=place % across == 0)
        return Keys(run_keys(panels[0]), mark_keys(panels[0]))

    return Drawing(_points(panels), rounds_caption(rounds, choices), _height(width, len(axes), across), fill)


def _points(panels: Sequence[Panel]) -> pd.DataFrame:
    """Return the points of all panels, told apart by their axis where there are several."""
    if len(panels) == 1:
        return panels[0].table
    return pd.concat([panel.table.assign(axis=panel.x) for panel in panels], ignore_index=True)


def _panel(rounds: pd.DataFrame, x: XAxis, choices: FigureChoices) -> Panel:
    table = curve_table(rounds, choices.score, x, choices.macs, choices.margin)
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
    return ratio * panel * (count // across)


FIGURES.register(PaperFigure("accuracy", "Test scores against sparsity or MACs", "curves", accuracy, CURVE))
