"""Accuracy of runs that differ in one setting, a panel for every such setting, with the closest stretch enlarged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from analysis import marks
from analysis.ablation import PanelAxes, Varied, ablation_panels, left_out, panel_axes, panel_rounds
from analysis.export.choices import FigureChoices
from analysis.export.figures.accuracy import WIDE_PANEL
from analysis.export.figures.base import CURVE, FIGURES, Drawing, Keys, PaperFigure, rounds_caption
from analysis.export.figures.curve_layers import Panel, draw_layers, draw_panel
from analysis.export.figures.legend import by_row, run_keys, ticket_key, wrap_labels
from analysis.export.figures.words import plain
from analysis.tables import curve_table, rounds_table
from analysis.tables.curves import XAxis
from glt.store import Run

# Height of a panel by its width, and of a row of its legend (inches).
RATIO, LEGEND_ROW = 0.8, 0.16
# Inches that the y axis takes, a letter of a key, its handle and the gaps around it.
Y_AXIS, LETTER, HANDLE = 0.5, 0.044, 0.235
BOX_INK = "#C00000"


def ablation(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan one panel a setting that differs among the runs, over one axis or all three.

    Raises StoreError when no round is finished, ConfigError when the runs do not differ in single settings.
    """
    axes = choices.axes
    rounds = rounds_table(runs)
    shown = [(varied, _panel(varied, x, rounds, choices)) for varied in ablation_panels(runs) for x in axes]
    across = _across(len(shown), len(axes), width)
    per_row = _per_row([varied for varied, _ in shown], width / across)

    def fill(figure: FigureBase) -> Keys:
        grid = figure.subplots(-(-len(shown) // across), across, squeeze=False).flat
        for place, area in enumerate(grid):
            if place >= len(shown):
                area.set_visible(False)
                continue
            varied, panel = shown[place]
            _draw(area, panel, choices)
            _legend(area, panel, place, varied.title, per_row, width / across)
            area.set_ylabel("" if place % across else marks.score_title(panel.table, choices.score))
        # Every panel has its own legend, because its runs are its own.
        return Keys()

    points = pd.concat([panel.table.assign(panel=varied.title, axis=panel.x) for varied, panel in shown])
    height = _height(shown, across, per_row, width)
    return Drawing(points.reset_index(drop=True), rounds_caption(rounds, choices), height, fill)


def _height(shown: Sequence[tuple[Varied, Panel]], across: int, per_row: int, width: float) -> float:
    rows = max(-(-(len(varied.runs) + 1) // per_row) + bool(varied.title) for varied, _ in shown)
    return -(-len(shown) // across) * (RATIO * width / across + LEGEND_ROW * (rows + 1))


def _across(panels: int, axes: int, width: float) -> int:
    if width <= WIDE_PANEL:
        return 1
    return axes if axes > 1 else min(panels, 2)


def _panel(varied: Varied, x: XAxis, rounds: pd.DataFrame, choices: FigureChoices) -> Panel:
    mine = panel_rounds(rounds, varied)
    table = curve_table(mine, choices.score, x, choices.macs, choices.margin, family=rounds)
    looks: dict[str, Any] = {"styles": varied.styles(), "sized": False, "each_seed": False}
    window = panel_axes(table, x, choices.near).window
    return Panel(table, mine, x, choices.score, choices.macs, [], window, **looks)


def _draw(area: Axes, panel: Panel, choices: FigureChoices) -> None:
    ranges = panel_axes(panel.table, panel.x, choices.near)
    draw_panel(area, panel)
    area.set_xlim(ranges.first, ranges.last)
    area.set_xlabel(marks.x_title(panel.x, choices.macs, short=True))
    _inset(area, panel, ranges)


def _inset(area: Axes, panel: Panel, ranges: PanelAxes) -> None:
    if ranges.box is None or ranges.corner is None:
        return
    inset = area.inset_axes(ranges.corner, zorder=6)
    draw_layers(inset, panel)
    if panel.x == "macs":
        inset.set_xscale("log")
    inset.set_xlim(ranges.box.left, ranges.box.right)
    inset.set_ylim(ranges.box.low, ranges.box.high)
    if panel.x == "macs":
        inset.set_xticks([], minor=True)
        inset.set_xticks([])
    inset.tick_params(labelsize="x-small", pad=1.5, length=1.5)
    inset.locator_params(axis="y", nbins=4)
    for spine in inset.spines.values():
        spine.set(visible=True, color=BOX_INK, linewidth=0.5)
    area.indicate_inset_zoom(inset, edgecolor=BOX_INK, linewidth=0.6, alpha=0.9)


def _legend(area: Axes, panel: Panel, place: int, title: str, per_row: int, wide: float) -> None:
    keys = [*run_keys(panel), *ticket_key(panel)]
    if per_row == 1:
        wrap_labels(keys, wide - Y_AXIS - HANDLE)
    rows = [keys[start : start + per_row] for start in range(0, len(keys), per_row)]
    letter = f"({'abcdefghijkl'[place]}) " if title else ""
    area.legend(
        handles=by_row(rows),
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=len(rows[0]),
        title=f"{letter}{plain(title)}" or None,
        alignment="left",
        handlelength=1.2,
        handletextpad=0.35,
        columnspacing=0.8,
        title_fontproperties={"weight": "bold"},
    )


def _per_row(panels: Sequence[Varied], wide: float) -> int:
    longest = max(len(label) for varied in panels for label in varied.labels.values())
    return max(1, int((wide - Y_AXIS) / (HANDLE + LETTER * longest) + LETTER))


FIGURES.register(
    PaperFigure(
        "ablation",
        "Ablation: one setting varied",
        "paper",
        ablation,
        CURVE - {"paper"},
        left_out,
        "do not share the settings that a panel keeps fixed",
    )
)
