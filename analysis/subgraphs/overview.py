"""A static picture of a whole graph with a sample marked, for graphs too large for an interactive one."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.subgraphs.html import MARKERS, Look, class_color, class_shape, look
from analysis.subgraphs.panel import REMOVED, GraphPanel
from glt.datasets.graph import IntArray
from glt.masks import BoolArray

MOST_CLASSES = 12
WIDTH, HEIGHT, DPI = 9.2, 5.2, 160
DOT, MARKED = 1.6, 16.0


def overview_png(panel: GraphPanel, marked: IntArray, dark: bool = False) -> bytes:
    """Return a panel as PNG; `marked` are positions in its nodes that are drawn large, with an outline.

    Removed edges are drawn below kept ones, those removed in this round above both.
    """
    tone = look(dark)
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, facecolor=tone.ground)
    area = figure.add_axes((0, 0, 1, 1))
    area.set_axis_off()
    area.set_aspect("equal")
    _edges(area, panel, tone)
    chosen = np.isin(np.arange(panel.subgraph.nodes.size), marked)
    _nodes(area, panel, ~chosen, DOT, tone.ground, 0.0)
    _nodes(area, panel, chosen, MARKED, tone.text, 0.6)
    area.autoscale_view()
    _legend(figure, panel, tone)
    file = BytesIO()
    figure.savefig(file, format="png", facecolor=tone.ground)
    return file.getvalue()


def _edges(area: Axes, panel: GraphPanel, tone: Look) -> None:
    lines = panel.subgraph.positions[panel.subgraph.edges].transpose(1, 0, 2)
    removed = panel.states == REMOVED
    for chosen, color, width, opacity in (
        (removed & ~panel.fresh, tone.removed, 0.25, 0.35),
        (~removed, tone.kept, 0.25, 0.35),
        (panel.fresh, tone.removed, 0.6, 0.9),
    ):
        area.add_collection(LineCollection(list(lines[chosen]), colors=color, linewidths=width, alpha=opacity))


def _nodes(area: Axes, panel: GraphPanel, chosen: BoolArray, size: float, outline: str, width: float) -> None:
    for label in np.unique(panel.subgraph.labels).tolist():
        x, y = panel.subgraph.positions[chosen & (panel.subgraph.labels == label)].T
        marker = MARKERS[class_shape(label)]
        area.scatter(x, y, s=size, c=class_color(label), marker=marker, edgecolors=outline, linewidths=width, zorder=3)


def _legend(figure: Figure, panel: GraphPanel, tone: Look) -> None:
    part, keys = panel.subgraph, []
    for label in part.legend_labels():
        # A dollar sign would start a formula.
        look: dict[str, Any] = {
            "marker": MARKERS[class_shape(label)],
            "label": part.label_name(label).replace("$", r"\$"),
        }
        keys.append(Line2D([], [], linestyle="none", markersize=4, color=class_color(label), **look))
    if 0 < len(keys) <= MOST_CLASSES:
        figure.legend(
            handles=keys, loc="lower left", frameon=False, labelcolor=tone.text, fontsize=7, handletextpad=0.2
        )
