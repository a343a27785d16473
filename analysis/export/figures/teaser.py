"""The paper's Figure 1: scores at every level of sparsity, a panel a data set, marker area after the MACs left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from analysis import marks, palette
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
from analysis.export.figures.curve_layers import (
    Panel,
    draw_baselines,
    draw_printed,
    set_axes,
)
from analysis.export.figures.curve_words import name_baselines, name_exits, write
from analysis.export.figures.legend import mark_key, mark_keys
from analysis.export.figures.panel_row import PanelRow, name_panels
from analysis.labels import dataset_label, model_label
from analysis.runs import must_have_rows
from analysis.tables import curve_table, rounds_table
from analysis.tables.curves import SUBJECT, XAxis
from glt import formats
from glt.store import Run

# Square points of the dense network's marker, of a run in the legend, and how much more a star takes than a disc.
LARGEST, KEY_AREA, STAR = 60.0, 16.0, 1.7
# The share of a panel that is added on top for words.
STRIP = 0.11


def teaser(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan a panel for each data set and network of the runs; raises StoreError when no round is finished."""
    rounds = must_have_rows(rounds_table(runs))
    panels = [_panel(part, rounds, x, choices) for _, part in rounds.groupby(SUBJECT, sort=False) for x in choices.axes]
    row = PanelRow(len(panels), width)

    def fill(figure: FigureBase) -> Keys:
        areas = row.areas(figure)
        for place, (area, panel) in enumerate(zip(areas, panels, strict=True)):
            _draw(area, panel)
            if row.is_first(place):
                area.set_ylabel(marks.score_title(panel.table, panel.score))
        name_panels(areas, [_title(panel) for panel in panels])
        return _keys(panels)

    points = pd.concat([panel.table.assign(axis=panel.x) for panel in panels], ignore_index=True)
    told = "Marker area follows inference MACs; over a star: the share of the dense MACs that the ticket needs. "
    return Drawing(points, told + rounds_caption(rounds, choices), row.height, fill)


def _panel(rounds: pd.DataFrame, family: pd.DataFrame, x: XAxis, choices: FigureChoices) -> Panel:
    table = curve_table(rounds, choices.score, x, choices.macs, choices.margin, family)
    printed = marks.paper_marks(table, x, choices.macs) if choices.paper else []
    window = marks.window(table, [mark.point.score for mark in printed], choices.near)
    look: dict[str, Any] = {"crowd": crowd_styles(table), "largest": LARGEST}
    return Panel(table, rounds, x, choices.score, choices.macs, printed, window, **look)


def _draw(area: Axes, panel: Panel) -> None:
    draw_baselines(area, panel)
    for run, curve in panel.table.groupby("run", sort=False):
        _rounds(area, panel, panel.style(str(run), curve["method"].iloc[0]), curve)
    draw_printed(area, panel)
    set_axes(area, panel)
    name_baselines(area, panel)
    name_exits(area, panel)
    _saving(area, panel)
    area.set_xlabel(marks.x_title(panel.x, panel.macs, short=True))


def _rounds(area: Axes, panel: Panel, style: palette.Style, curve: pd.DataFrame) -> None:
    dense = curve["round"] == 0
    for chosen, ink, marker, factor in (
        (dense, palette.color(palette.DENSE), "o", 1.0),
        (~dense & ~curve["is_ticket"], style.light, "o", 1.0),
        (curve["is_ticket"], style.light, palette.TICKET_MARKER, STAR),
    ):
        rows = curve[chosen]
        place, size = marks.x_values(panel.x, rows["x"]), factor * panel.size(rows["macs"])
        if not panel.crowd:
            area.vlines(place, 100 * rows["low"], 100 * rows["high"], colors=ink, linewidth=0.5, alpha=0.5)
        look: Any = {"marker": marker, "alpha": 0.9, "edgecolors": "white", "linewidths": 0.4, "zorder": 4}
        area.scatter(place, 100 * rows["mean"], s=size, c=ink, **look)


def _saving(area: Axes, panel: Panel) -> None:
    """Write over the cheapest ticket, in a strip of its own, which share of the dense network's MACs it needs."""
    tickets = panel.table[panel.table["is_ticket"]]
    if tickets.empty:
        return
    low, high = area.get_ylim()
    area.set_ylim(low, high + STRIP * (high - low))
    best = tickets.loc[tickets["macs"].idxmin()]
    own = panel.table[(panel.table["run"] == best["run"]) & (panel.table["round"] == 0)]["macs"]
    words = f"{formats.fixed(100 * float(best['macs'] / own.iloc[0]), 1)}% of MACs"
    across = float(marks.x_values(panel.x, best["x"]))
    ink = panel.style(best["run"], best["method"]).words
    leader: Any = {"arrowstyle": "-", "linewidth": 0.5, "color": ink, "shrinkA": 0, "shrinkB": 3}
    look: Any = {"ha": "center", "va": "top", "color": ink, "arrowprops": leader}
    write(area, words, (across, 100 * best["mean"]), (across, 0.995), "data", area.get_xaxis_transform(), **look)


def _title(panel: Panel) -> str:
    first = panel.table.iloc[0]
    return f"{dataset_label(first['dataset'])}, {model_label(first['model'])}"


def _keys(panels: Sequence[Panel]) -> Keys:
    methods = {method: None for panel in panels for method in panel.table["method"]}
    runs = [mark_key(palette.label(palette.DENSE), "o", KEY_AREA, ink=palette.color(palette.DENSE))]
    runs += [mark_key(palette.label(method), "o", KEY_AREA, ink=palette.color(method)) for method in methods]
    fullest = max(panels, key=lambda panel: float(panel.table["macs"].max()))
    return Keys(runs, mark_keys(fullest, marks.KEY_SHARES) if len(panels) == 1 else _shares(fullest))


def _shares(panel: Panel) -> list[Any]:
    """Return the keys of stars, open markers and areas where every panel has MACs of its own: areas are shares."""
    keys = mark_keys(panel, ())
    largest = float(panel.table["macs"].max())
    for share in marks.KEY_SHARES:
        words = f"{100 * share:g}%" + (" of MACs" if share == 1 else "")
        keys.append(mark_key(words, "o", float(panel.size(share * largest))))
    return keys


FIGURES.register(PaperFigure("teaser", "Teaser: score at sparsity, area after MACs (Figure 1)", "paper", teaser, CURVE))
