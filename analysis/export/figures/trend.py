"""A measure of the graph over the rounds, beside as dense a graph of random edges and the original."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from analysis import palette
from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, Drawing, Keys, PaperFigure
from analysis.export.figures.curve_words import write
from analysis.export.figures.legend import KEY_INK, line_key
from analysis.export.figures.panel_row import PanelRow
from analysis.export.figures.run_lines import DOTTED, RunLooks, band, stroke
from analysis.labels import dataset_label
from analysis.measures import descriptions as wording
from analysis.measures import trend_table
from analysis.runs import runs_with_rounds
from analysis.tables.captions import averaged_over
from glt import formats
from glt.store import Run

AXES = {"round": "Round", "kept": "Undirected edges kept (%)"}
NULL = "Random, as dense"


def trend(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan one measure of runs on one graph; raises ConfigError for several graphs or an unknown measure."""
    begun = runs_with_rounds(runs)
    table = trend_table(begun, choices.measure, null=choices.null)

    def fill(figure: FigureBase) -> Keys:
        area = figure.subplots()
        return _draw(area, table, choices)

    return Drawing(table, _caption(begun, table, choices), PanelRow(1, width).height, fill)


def _draw(area: Axes, table: pd.DataFrame, choices: FigureChoices) -> Keys:
    looks, scale = RunLooks(table), 100.0 if wording.is_share(choices.measure) else 1.0
    for (run, kind), rows in table.groupby(["run", "kind"], sort=False):
        style, null = looks.style(str(run), rows["method"].iloc[0]), kind == "null"
        place = rows[choices.over] * (100 if choices.over == "kept" else 1)
        if not looks.crowd:
            band(area, place, scale * rows["low"], scale * rows["high"], style.light, 0.08 if null else 0.16)
        dash, width = (DOTTED, 0.8) if null else (looks.dash(str(run)), 1.1)
        stroke(area, place, scale * rows["mean"], style.light, dash, "" if null else style.marker, linewidth=width)
    _original(area, table, choices.measure, scale)
    area.set_xlabel(AXES[choices.over])
    area.set_ylabel(wording.label(choices.measure) + (" (%)" if scale > 1 else ""))
    area.margins(x=0.04)
    if choices.over == "kept":
        area.invert_xaxis()
    drawn = (table["kind"] == "null").any()
    return Keys(looks.keys(), [line_key(NULL, KEY_INK, DOTTED, 0.8)] if drawn else [])


def _original(area: Axes, table: pd.DataFrame, name: str, scale: float) -> None:
    value = float(table["original"].iloc[0])
    if np.isnan(value):
        return
    ink = palette.color(palette.DENSE)
    area.axhline(scale * value, color=ink, linewidth=0.7, linestyle=(0, (5, 3)), zorder=1.5)
    text = f"Original {wording.value(name, value).replace(' %', '%')}"
    where = (1, scale * value), (0, 2.5), area.get_yaxis_transform(), "offset points"
    write(area, text, *where, ha="right")


def _caption(runs: Sequence[Run], table: pd.DataFrame, choices: FigureChoices) -> str:
    mine = table[table["kind"] == "run"]
    parts = [
        f"{dataset_label(runs[0].config.dataset)}: {formats.inside(wording.label(choices.measure))} of the graph that "
        f"is left in rounds 0 to {mine['round'].max()}, {averaged_over(mine['seeds'])}",
        "dashed: the original graph",
    ]
    if len(mine) < len(table):
        parts.append("dotted: as many undirected edges as each run kept, drawn at random (five draws or one a seed)")
    return "; ".join(parts) + "."


FIGURES.register(
    PaperFigure("trend", "A measure of the graph over rounds", "structure", trend, frozenset({"measure"}), slow=True)
)
