"""All rounds of all runs as points, and the Pareto front over them, as on the page of curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from analysis import marks, palette
from analysis.crowd import MOST_POINTS, crowd_styles
from analysis.export.choices import FigureChoices
from analysis.export.figures.base import (
    FIGURES,
    Drawing,
    Keys,
    PaperFigure,
    rounds_caption,
)
from analysis.export.figures.curve_layers import (
    EVEN_AREA,
    STAR_AREA,
    Panel,
    draw_baselines,
    set_axes,
)
from analysis.export.figures.curve_words import name_baselines
from analysis.export.figures.legend import line_key, mark_key, ticket_key
from analysis.export.figures.panel_row import PanelRow, name_panels
from analysis.runs import must_have_rows
from analysis.tables import curve_table, rounds_table
from analysis.tables.curves import SUBJECT, XAxis, with_front
from glt.store import Run

FRONT_INK, FRONT = "#1F2328", "Pareto front"
QUIET = 0.35


def pareto(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan the rounds of runs and their fronts; raises StoreError without rounds, ConfigError for two tasks."""
    rounds = must_have_rows(rounds_table(runs))
    panels = [_panel(rounds, x, choices) for x in choices.axes]
    row = PanelRow(len(panels), width, narrowest=1.8)

    def fill(figure: FigureBase) -> Keys:
        areas = row.areas(figure, sharey=True)
        for place, (area, panel) in enumerate(zip(areas, panels, strict=True)):
            _draw(area, panel)
            if row.is_first(place):
                area.set_ylabel(marks.score_title(panel.table, panel.score))
        name_panels(areas, [""] * len(areas))
        return _keys(panels[0])

    points = pd.concat([panel.table.assign(axis=panel.x) for panel in panels], ignore_index=True)
    told = f"Full points and the stepped line: the Pareto front. {rounds_caption(rounds, choices)}"
    return Drawing(points, told, row.height, fill)


def _panel(rounds: pd.DataFrame, x: XAxis, choices: FigureChoices) -> Panel:
    table = with_front(curve_table(rounds, choices.score, x, choices.macs, choices.margin), x)
    window, crowd = marks.window(table, near=choices.near), crowd_styles(table, MOST_POINTS)
    return Panel(table, rounds, x, choices.score, choices.macs, [], window, sized=False, crowd=crowd)


def _draw(area: Axes, panel: Panel) -> None:
    draw_baselines(area, panel)
    for _, curve in panel.table.groupby(SUBJECT, sort=False):
        _front(area, panel, curve[curve["on_front"]])
    for run, curve in panel.table.groupby("run", sort=False):
        _points(area, panel, str(run), curve)
    set_axes(area, panel)
    name_baselines(area, panel)
    area.set_xlabel(marks.x_title(panel.x, panel.macs, short=True))


def _front(area: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    """Draw a stepped line: from one cost to the next, the score to be had is still the cheaper round's."""
    rows = rows.sort_values(["x", "mean"], ascending=[panel.x == "macs", True])
    place = marks.x_values(panel.x, rows["x"])
    area.step(place, 100 * rows["mean"], where="post", color=FRONT_INK, linewidth=0.8, zorder=2)


def _points(area: Axes, panel: Panel, run: str, curve: pd.DataFrame) -> None:
    style, dense = panel.style(run, curve["method"].iloc[0]), curve["round"] == 0
    for chosen, ink, marker, size in (
        (dense, palette.color(palette.DENSE), "o", EVEN_AREA),
        (~dense & ~curve["is_ticket"], style.light, style.marker, EVEN_AREA),
        (curve["is_ticket"], style.light, palette.TICKET_MARKER, STAR_AREA),
    ):
        for on_front, opacity, share in ((False, QUIET, 0.7), (True, 1.0, 1.0)):
            rows = curve[chosen & (curve["on_front"] == on_front)]
            look: Any = {"marker": marker, "alpha": opacity, "edgecolors": "white", "linewidths": 0.4, "zorder": 4}
            area.scatter(marks.x_values(panel.x, rows["x"]), 100 * rows["mean"], s=size * share, c=ink, **look)


def _keys(panel: Panel) -> Keys:
    firsts = panel.table.drop_duplicates("run").to_dict("records")
    styles = [(first["label"], panel.style(first["run"], first["method"])) for first in firsts]
    runs = [mark_key(label, style.marker, EVEN_AREA, ink=style.light) for label, style in styles]
    return Keys(runs, [*ticket_key(panel), line_key(FRONT, FRONT_INK, width=0.8)])


FIGURES.register(
    PaperFigure("pareto", "Pareto front of score and cost", "curves", pareto, frozenset({"axis", "score", "near"}))
)
