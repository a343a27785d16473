"""The degree distribution before and after pruning: which share of nodes has at least so many neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis import palette
from analysis.drawing.description import Axis, Dash, Description, Key, Line, Panel
from analysis.drawing.labels import log_ticks
from analysis.figures.base import FIGURES, Figure, FigureChoices, RunLooks, shown_round
from analysis.labels import dataset_label
from analysis.palette import escape
from analysis.runs import shared_graph
from analysis.tables.structure import degree_table
from glt import formats
from glt.datasets.graph import IntArray
from glt.store import Run

NULL = "random, as dense"
HEIGHT = 460
WIDTH, THIN = 2.2, 1.6


@dataclass(frozen=True)
class Degrees:
    """One graph's curve: its label, whose colour it has (its method's or its own), [k] nodes of degree k."""

    label: str
    method: str
    counts: IntArray
    dash: Dash = "solid"
    color: str = ""


def degree_curves(graphs: Sequence[Degrees]) -> Description:
    """Describe the share of nodes of every graph with at least k neighbours over k, both logarithmic (from k = 1)."""
    lines, keys = [], []
    for graph in graphs:
        at_least = 100 * np.cumsum(graph.counts[::-1])[::-1][1:] / max(graph.counts.sum(), 1)
        look = palette.painted(graph.method, graph.color)
        lines.append(_line(graph.label, np.arange(1, graph.counts.size), at_least, look, graph.dash))
        keys.append(Key(label=graph.label, ink=look, dash=graph.dash, group=graph.label))
    return _description(lines, keys, max((graph.counts.size for graph in graphs), default=0))


def degrees(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the degrees of a round of runs on one graph; raises ConfigError for several graphs."""
    graph = shared_graph(runs, "A figure of degrees")
    rounds = [(run, *shown_round(run, choices)) for run in runs]
    table = degree_table(graph, rounds, choices.null)
    looks, lines = RunLooks(table[table["kind"] != "original"]), []
    for (kind, run), rows in table[table["degree"] > 0].groupby(["kind", "run"], sort=False):
        method, label = rows["method"].iloc[0], rows["label"].iloc[0]
        look = palette.style(method) if kind == "original" else looks.style(run, method)
        dash: Dash = "solid" if kind == "original" else "dot" if kind == "null" else looks.dash(run)
        shares = 100 * rows["at_least"].to_numpy()
        lines.append(_line(label, rows["degree"].to_numpy(), shares, look, dash, THIN if kind == "null" else WIDTH))
    keys = [Key(label="Original", ink=palette.style(palette.DENSE), dash="solid"), *looks.keys(marks=False)]
    if (table["kind"] == "null").any():
        keys.append(Key(label=NULL, dash="dot", width=THIN, about="marks"))
    _, seed, number = rounds[0]
    told = (
        f"{dataset_label(runs[0].config.dataset)}, seed {seed.seed}, round {number}: the share of nodes with at least "
        "so many neighbours; nodes without any are what a curve lacks at 1."
    )
    more = " Dotted: one draw of as many undirected edges as the round kept." if choices.null else ""
    described = _description(lines, keys, int(table["degree"].max()))
    return Description(panels=described.panels, keys=keys, points=table, caption=told + more, height=HEIGHT)


def _line(
    label: str, places: np.ndarray, shares: np.ndarray, look: palette.Style, dash: Dash, width: float = WIDTH
) -> Line:
    hover = [
        f"<b>{escape(label)}</b><br>{formats.figures(share, 3)} % of nodes have {place} or more"
        for place, share in zip(places, shares, strict=True)
    ]
    return Line(x=places, y=shares, step="vh", ink=look, dash=dash, width=width, name=label, group=label, hover=hover)


def _description(lines: Sequence[Line], keys: Sequence[Key], most: int) -> Description:
    x = Axis(title="Neighbours, at least", log=True, ticks=log_ticks(1.0, max(float(most), 2.0)))
    panel = Panel(x=x, y=Axis(title="Share of nodes (%)", log=True, grid=True), layers=lines)
    return Description(panels=[panel], keys=keys, height=HEIGHT)


FIGURES.register(Figure("degrees", "Degrees before and after", "structure", degrees, frozenset({"round", "seed"})))
