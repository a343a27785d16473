"""The degree distribution before and after pruning, on two logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from analysis import marks, palette
from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, Drawing, Keys, PaperFigure, shown_round
from analysis.export.figures.legend import KEY_INK, line_key
from analysis.export.figures.panel_row import PanelRow
from analysis.export.figures.run_lines import DOTTED, RunLooks
from analysis.labels import dataset_label
from analysis.runs import shared_graph
from analysis.tables.structure import degree_table
from glt.store import Run

NULL = "Random, as dense"


def degrees(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan the degrees of a round of runs on one graph; raises ConfigError for several graphs."""
    graph = shared_graph(runs, "A figure of degrees")
    rounds = [(run, *shown_round(run, choices)) for run in runs]
    table = degree_table(graph, rounds, choices.null)

    def fill(figure: FigureBase) -> Keys:
        return _draw(figure.subplots(), table)

    _, seed, number = rounds[0]
    told = (
        f"{dataset_label(runs[0].config.dataset)}, seed {seed.seed}, round {number}: the share of nodes with at least "
        "so many neighbours; nodes without any are what a curve lacks at 1."
    )
    more = " Dotted: one draw of as many undirected edges as the round kept." if choices.null else ""
    return Drawing(table, told + more, PanelRow(1, width).height, fill)


def _draw(area: Axes, table: pd.DataFrame) -> Keys:
    looks = RunLooks(table[table["kind"] != "original"])
    for (kind, run), rows in table[table["degree"] > 0].groupby(["kind", "run"], sort=False):
        original = kind == "original"
        method = rows["method"].iloc[0]
        ink = palette.color(method) if original else looks.style(str(run), method).light
        dash = "-" if original else DOTTED if kind == "null" else looks.dash(str(run))
        look: Any = {"linestyle": dash, "linewidth": 0.8 if kind == "null" else 1.1}
        area.step(rows["degree"], 100 * rows["at_least"], where="pre", color=ink, **look)
    area.set(xscale="log", yscale="log", xlabel="Neighbours, at least", ylabel="Share of nodes (%)")
    ticks = marks.log_ticks(1.0, max(float(table["degree"].max()), 2.0))
    area.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    area.xaxis.set_minor_locator(NullLocator())
    area.yaxis.set_minor_locator(NullLocator())
    area.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    null = [line_key(NULL, KEY_INK, DOTTED, 0.8)] if (table["kind"] == "null").any() else []
    return Keys([line_key("Original", palette.color(palette.DENSE)), *_keys(looks)], null)


def _keys(looks: RunLooks) -> list[Line2D]:
    rows = looks.runs.itertuples(index=False, name=None)
    return [line_key(label, looks.style(run, method).light, looks.dash(run)) for run, label, method in rows]


FIGURES.register(PaperFigure("degrees", "Degrees before and after", "structure", degrees, frozenset({"round", "seed"})))
