"""The same part of a graph before and after pruning, side by side: same nodes, same places, removed edges dashed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, PaperFigure
from analysis.export.figures.words import plain
from analysis.shared_graph import shared_graph
from analysis.subgraphs import BOTH, REMOVED, Panel, make_panel, original_panel, sample_nodes, take
from analysis.subgraphs.class_colors import MARKERS, class_color, class_shape
from analysis.tables.labels import run_labels
from glt.data import Graph
from glt.store import Run

KEPT, GONE = "#57606A", "#C2410C"
# Node areas in square points, for a panel two inches wide.
SMALLEST, LARGEST = 2.5, 32.0
MOST_CLASSES = 10
DASHED = (0, (2.5, 1.8))
# Inches: the narrowest panel that can be read, a figure with room for four keys in a row, a line of small text.
NARROWEST_PANEL, WIDE_FIGURE, LINE = 2.2, 5.0, 0.15


def subgraphs(runs: Sequence[Run], choices: FigureChoices) -> Figure:
    """Draw the original sample and what a round of each run leaves of it; raises ConfigError for several data sets."""
    graph = shared_graph(runs, "A subgraph figure")
    panels = _panels(graph, runs, choices)
    keys = _keys(panels)
    per_row = 4 if choices.width > WIDE_FIGURE else 2
    across = _across(len(panels), choices.width)
    down = math.ceil(len(panels) / across)
    wide = choices.width / across
    height = down * _panel_height(panels[0], wide) + LINE * math.ceil(len(keys) / per_row)
    figure = Figure(figsize=(choices.width, height), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for area, panel in zip_longest(grid.flat, panels):
        if panel is None:
            area.set_visible(False)
        else:
            draw_panel(area, panel, scale=wide / 2)
    figure.legend(handles=keys, loc="outside lower center", ncols=per_row)
    return figure


def draw_panel(area: Axes, panel: Panel, scale: float) -> None:
    """Draw one panel; `scale` is its width by two inches, so that crowded panels get smaller nodes."""
    _edges(area, panel)
    _nodes(area, panel, scale)
    area.set_title(panel.title)
    area.set_xlabel(_counts(panel), fontsize="small", labelpad=2)
    area.set_aspect("equal")
    area.margins(0.03)
    area.grid(visible=False)
    area.set(xticks=[], yticks=[])
    for spine in area.spines.values():
        spine.set_visible(False)


def _panels(graph: Graph, runs: Sequence[Run], choices: FigureChoices) -> list[Panel]:
    sample = choices.sample
    nodes = sample_nodes(graph, sample.kind, sample.size, sample.seed, sample.center, sample.label)
    part = take(graph, nodes, sample.seed)
    labels = run_labels(runs)
    panels = [original_panel(graph, part)]
    for run in runs:
        seed_run = run.existing_seed(choices.seed)
        number = seed_run.whole_rounds() - 1 if choices.round is None else choices.round
        mask = seed_run.edge_mask(number)
        panels.append(make_panel(graph, part, mask, f"{plain(labels[run.name])}, round {number}"))
    return panels


def _edges(area: Axes, panel: Panel) -> None:
    part = panel.subgraph
    lines = part.positions[part.edges].transpose(1, 0, 2)
    gone, both = panel.states == REMOVED, panel.states == BOTH
    area.add_collection(LineCollection(lines[gone], colors=GONE, linewidths=0.5, linestyles=[DASHED], alpha=0.7))
    area.add_collection(LineCollection(lines[~gone & ~both], colors=KEPT, linewidths=0.45, alpha=0.6))
    area.add_collection(LineCollection(lines[both], colors=KEPT, linewidths=0.8, alpha=0.85))


def _nodes(area: Axes, panel: Panel, scale: float) -> None:
    part = panel.subgraph
    most = max(1, int(panel.full_degrees.max(initial=0)))
    size = scale * (SMALLEST + (LARGEST - SMALLEST) * panel.degrees / most)
    for label in np.unique(part.labels).tolist():
        here = part.labels == label
        ink, alone = class_color(label), panel.degrees == 0
        for chosen, face, edge in ((here & ~alone, ink, "white"), (here & alone, "white", ink)):
            x, y = part.positions[chosen].T
            marker = MARKERS[class_shape(label)]
            area.scatter(x, y, s=size[chosen], c=face, marker=marker, edgecolors=edge, linewidths=0.35, zorder=3)


def _counts(panel: Panel) -> str:
    kept = int((panel.states != REMOVED).sum())
    both = int((panel.states == BOTH).sum())
    words = f"{kept} of {panel.states.size} edges"
    return words if both == kept else f"{words}, {both} both ways"


def _across(count: int, width: float) -> int:
    """Return how many panels stand in a row, the rows filled evenly."""
    fitting = min(count, max(1, int(width / NARROWEST_PANEL)))
    return math.ceil(count / math.ceil(count / fitting))


def _panel_height(panel: Panel, wide: float) -> float:
    across, up = np.maximum(np.ptp(panel.subgraph.positions, axis=0), 1e-9)
    return float(wide * min(up / across, 1.5)) + 3 * LINE


def _keys(panels: Sequence[Panel]) -> list[Line2D]:
    states = np.concatenate([panel.states for panel in panels])
    keys = [Line2D([], [], color=KEPT, linewidth=0.8, label="Kept")]
    if not np.isin(states, (REMOVED, BOTH)).all():
        keys.append(Line2D([], [], color=KEPT, linewidth=0.45, alpha=0.7, label="Kept one way"))
    if (states == REMOVED).any():
        keys.append(Line2D([], [], color=GONE, linewidth=0.6, linestyle=DASHED, label="Removed"))
    part = panels[0].subgraph
    labels = [label for label in np.unique(part.labels).tolist() if label >= 0]
    if len(labels) <= MOST_CLASSES:
        keys += [_class_key(label, part.class_names[label]) for label in labels]
    return keys


def _class_key(label: int, name: str) -> Line2D:
    marker = MARKERS[class_shape(label)]
    return Line2D([], [], linestyle="none", marker=marker, markersize=3.5, color=class_color(label), label=name)


def _caption(_: pd.DataFrame, choices: FigureChoices) -> str:
    return f"Seed {choices.seed}, round {choices.round}."


FIGURES.register(
    PaperFigure("subgraphs", "A part of the graph before and after pruning", subgraphs, _caption, one_round=True)
)
