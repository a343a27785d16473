"""Who loses, by class and by degree: the share of each group that a round cut, beside what chance would cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D

from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, Drawing, Keys, PaperFigure
from analysis.export.figures.legend import mark_key
from analysis.export.figures.loss_tables import losses_of
from analysis.export.figures.run_lines import RunLooks
from analysis.export.figures.words import plain
from analysis.removal.groups import outside
from analysis.removal.loss_figures import EDGE_GROUPS, NODE_GROUPS, present, share_range
from glt.store import Run

GROUPS = {**EDGE_GROUPS, **NODE_GROUPS}
TITLES = {**EDGE_GROUPS, "class": "Nodes left without an edge, by class"}
CHANCE_INK, CHANCE = "#C9CFD6", "By chance"
# Inches: a row of one run, what each further run adds, and title and axis of a part. Points: a mark, half a bar.
ROW, MORE, AROUND = 0.15, 0.07, 0.24
FOOT, AREA, BAR = 0.35, 14.0, 4.0


def losers(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan the groups of every run; raises StoreError when nobody lost an edge, ConfigError for several graphs."""
    losses = losses_of(runs, choices)
    table = losses.table[losses.table["grouping"].isin(list(GROUPS))].reset_index(drop=True)
    count = len(losses.runs)
    titles = present(table, TITLES)
    rows = [table[table["grouping"] == name]["name"].nunique() for name in titles]
    heights = [AROUND + number * (ROW + MORE * (count - 1)) for number in rows]

    def fill(figure: FigureBase) -> Keys:
        areas = list(figure.subplots(len(rows), 1, height_ratios=heights, squeeze=False)[:, 0])
        for area, (name, title) in zip(areas, titles.items(), strict=True):
            _draw(area, table[table["grouping"] == name], title)
        of_edges = areas[: len(present(table, EDGE_GROUPS))]
        for area in areas[len(of_edges) :]:
            area.set_xlabel("Nodes (%)")
        of_edges[-1].set_xlabel("Edges cut (%)")
        _share_edges_axis(of_edges)
        return _keys(table)

    told = f"{losses.caption} Full marks lie outside what chance gives."
    return Drawing(table, told, sum(heights) + 2 * FOOT, fill)


def _draw(area: Axes, part: pd.DataFrame, title: str) -> None:
    names = list(dict.fromkeys(part.sort_values("group", kind="stable")["name"]))
    looks = RunLooks(part)
    count = len(looks.runs)
    for place, (run, rows) in enumerate(part.groupby("run", sort=False)):
        lane = np.array([names.index(name) for name in rows["name"]]) + 0.62 * ((place + 0.5) / count - 0.5)
        style, far = looks.style(str(run), rows["method"].iloc[0]), outside(rows).to_numpy()
        low, high = 100 * rows["null_low"].to_numpy(), 100 * rows["null_high"].to_numpy()
        area.hlines(lane, low, high, colors=CHANCE_INK, linewidth=BAR, zorder=2)
        shares = 100 * rows["share"].to_numpy()
        for chosen, face in ((far, style.light), (~far, "white")):
            look: Any = {"marker": style.marker, "edgecolors": style.light, "linewidths": 0.7, "zorder": 4}
            area.scatter(shares[chosen], lane[chosen], s=AREA, c=face, **look)
    area.set_yticks(range(len(names)), [plain(name) for name in names])
    area.set_ylim(len(names) - 0.4, -0.6)
    area.set_title(title, loc="left", fontsize="small", color="#555555")
    area.grid(visible=False, axis="y")
    area.grid(visible=True, axis="x")
    area.set_xlim(*share_range(part))


def _share_edges_axis(areas: Sequence[Axes]) -> None:
    """Give the parts about edges one range; only the last of them names its numbers."""
    ends = [end for area in areas for end in area.get_xlim()]
    for area in areas:
        area.set_xlim(min(ends), max(ends))
    for area in areas[:-1]:
        area.tick_params(axis="x", labelbottom=False)


def _keys(table: pd.DataFrame) -> Keys:
    looks = RunLooks(table)
    rows = looks.runs.itertuples(index=False, name=None)
    styles = [(label, looks.style(run, method)) for run, label, method in rows]
    runs = [mark_key(label, style.marker, AREA, ink=style.light) for label, style in styles]
    return Keys(runs, [Line2D([], [], color=CHANCE_INK, linewidth=BAR, label=CHANCE)])


FIGURES.register(
    PaperFigure("losers", "Who loses, by class and degree", "structure", losers, frozenset({"round", "seed"}))
)
