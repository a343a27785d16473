"""The same part of a graph before and after pruning, side by side: same nodes, same places, removed edges dashed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import FigureBase

from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, Drawing, Keys, PaperFigure, Use, shown_round
from analysis.export.figures.legend import line_key, mark_key
from analysis.export.figures.words import plain
from analysis.labels import dataset_label, run_labels
from analysis.runs import shared_graph
from analysis.subgraphs import BOTH, REMOVED, Panel, Sample, make_panel, original_panel, sample_nodes, take
from analysis.subgraphs.html import MARKERS, SHAPES, class_color, class_shape
from analysis.subgraphs.panel import panel_table
from glt.datasets import Graph
from glt.datasets.graph import IntArray
from glt.masks import BoolArray
from glt.store import Run

KEPT, GONE = "#57606A", "#C2410C"
# Node areas in square points, for a panel two inches wide.
SMALLEST, LARGEST = 2.5, 32.0
MOST_CLASSES = 10
UNKNOWN_IN_GREY = "P"
CLASS_AREA = 12.0
DASHED, FRESH = (0, (2.5, 1.8)), (0, (3.0, 1.2))
# Inches: the narrowest panel that can be read, a line of small text.
NARROWEST_PANEL, LINE = 2.2, 0.15


def subgraphs(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan the original sample and what a round of each run leaves of it; raises ConfigError for several data sets."""
    graph = shared_graph(runs, "A subgraph figure")
    panels = _panels(graph, runs, choices)
    across = _across(len(panels), width)
    down = math.ceil(len(panels) / across)
    wide = width / across

    def fill(figure: FigureBase) -> Keys:
        grid = figure.subplots(down, across, squeeze=False)
        for area, panel in zip_longest(grid.flat, panels):
            if panel is None:
                area.set_visible(False)
            else:
                draw_panel(area, panel, wide / 2, choices)
        return _keys(panels, choices)

    return Drawing(
        panel_table(panels), _caption(runs, choices), down * _panel_height(panels[0], wide), fill, below=True
    )


def draw_panel(area: Axes, panel: Panel, scale: float, choices: FigureChoices) -> None:
    """Draw one panel; `scale` is its width by two inches, so that crowded panels get smaller nodes."""
    _edges(area, panel, choices.fresh)
    _nodes(area, panel, scale, choices.grey)
    area.set_title(panel.title)
    area.set_xlabel(_counts(panel, choices.fresh), fontsize="small", labelpad=2)
    area.set_aspect("equal")
    area.margins(0.03)
    area.grid(visible=False)
    area.set(xticks=[], yticks=[])
    for spine in area.spines.values():
        spine.set_visible(False)


def _panels(graph: Graph, runs: Sequence[Run], choices: FigureChoices) -> list[Panel]:
    rounds = [shown_round(run, choices) for run in runs]
    masks = [seed.edge_mask(number) for seed, number in rounds]
    before = [seed.edge_mask(number - 1) if choices.fresh and number else None for seed, number in rounds]
    part = take(graph, _sampled(graph, choices.sample, ~masks[0].either_way()))
    labels = run_labels(runs)
    return [
        original_panel(graph, part),
        *(
            make_panel(graph, part, mask, f"{plain(labels[run.reference])}, round {number}", earlier)
            for run, (_, number), mask, earlier in zip(runs, rounds, masks, before, strict=True)
        ),
    ]


def _sampled(graph: Graph, sample: Sample, cut: BoolArray) -> IntArray:
    return sample_nodes(
        graph, sample.kind, sample.size, sample.seed, sample.center, sample.label, cut=cut, nodes=sample.nodes
    )


def _edges(area: Axes, panel: Panel, mark_fresh: bool) -> None:
    gone, both = panel.states == REMOVED, panel.states == BOTH
    fresh = panel.fresh & mark_fresh
    _lines(area, panel, gone & ~fresh, GONE, 0.5, DASHED, 0.45 if fresh.any() else 0.7)
    _lines(area, panel, ~gone & ~both, KEPT, 0.45, "solid", 0.6)
    _lines(area, panel, both, KEPT, 0.8, "solid", 0.85)
    if fresh.any():
        _lines(area, panel, fresh, GONE, 1.2, FRESH, 1.0)


def _lines(area: Axes, panel: Panel, chosen: BoolArray, ink: str, width: float, dash: Any, opacity: float) -> None:
    lines = panel.subgraph.positions[panel.subgraph.edges].transpose(1, 0, 2)[chosen]
    look: Any = {"colors": ink, "linewidths": width, "linestyles": [dash], "alpha": opacity}
    area.add_collection(LineCollection(list(lines), **look))


def _nodes(area: Axes, panel: Panel, scale: float, grey: bool) -> None:
    part = panel.subgraph
    most = max(1, int(panel.full_degrees.max(initial=0)))
    size = scale * (SMALLEST + (LARGEST - SMALLEST) * panel.degrees / most)
    for label in np.unique(part.labels).tolist():
        here = part.labels == label
        ink, alone = class_color(label), panel.degrees == 0
        for chosen, face, edge in ((here & ~alone, ink, "white"), (here & alone, "white", ink)):
            x, y = part.positions[chosen].T
            look: Any = {"marker": _marker(label, grey), "edgecolors": edge, "linewidths": 0.35, "zorder": 3}
            area.scatter(x, y, s=size[chosen], c=face, **look)


def _marker(label: int, grey: bool) -> str:
    """Return a class's marker; without colours every class needs a shape of its own, and so do unknown ones."""
    if not grey:
        return MARKERS[class_shape(label)]
    return MARKERS[SHAPES[label % len(SHAPES)]] if label >= 0 else UNKNOWN_IN_GREY


def _counts(panel: Panel, mark_fresh: bool) -> str:
    kept = int((panel.states != REMOVED).sum())
    both = int((panel.states == BOTH).sum())
    words = f"{kept} of {panel.states.size} edges"
    words = words if both == kept else f"{words}, {both} both ways"
    return f"{words}, {int(panel.fresh.sum())} just removed" if mark_fresh and panel.fresh.any() else words


def _across(count: int, width: float) -> int:
    """Return how many panels stand in a row, the rows filled evenly."""
    fitting = min(count, max(1, int(width / NARROWEST_PANEL)))
    return math.ceil(count / math.ceil(count / fitting))


def _panel_height(panel: Panel, wide: float) -> float:
    across, up = np.maximum(np.ptp(panel.subgraph.positions, axis=0), 1e-9)
    return float(wide * min(up / across, 1.5)) + 3 * LINE


def _keys(panels: Sequence[Panel], choices: FigureChoices) -> Keys:
    states = np.concatenate([panel.states for panel in panels])
    keys = [line_key("Kept", KEPT, width=0.8)]
    if not np.isin(states, (REMOVED, BOTH)).all():
        keys.append(line_key("Kept one way", KEPT, width=0.45))
    if (states == REMOVED).any():
        keys.append(line_key("Removed", GONE, DASHED, 0.6))
    if choices.fresh and any(panel.fresh.any() for panel in panels):
        keys.append(line_key("Removed in this round", GONE, FRESH, 1.2))
    part = panels[0].subgraph
    labels = part.legend_labels()
    few = labels if len(labels) <= MOST_CLASSES else []
    marks = [(part.label_name(label), _marker(label, choices.grey), class_color(label)) for label in few]
    return Keys(keys, [mark_key(name, marker, CLASS_AREA, ink=ink) for name, marker, ink in marks])


def _caption(runs: Sequence[Run], choices: FigureChoices) -> str:
    seed, number = shown_round(runs[0], choices)
    marked = " Strong dashes: edges that lost their last direction in this round." if choices.fresh else ""
    who = ", ".join(run_labels(runs).values())
    shown = f"A part of {dataset_label(runs[0].config.dataset)} and what {who} leave{'s' * (len(runs) == 1)} of it"
    meaning = "Dashed edges are removed, thin ones kept in one direction, thick ones in both; the area of a node grows "
    meaning += "with its edges, and one without any is hollow."
    return f"{shown}: seed {seed.seed}, round {number}. {meaning}{marked}"


USES: frozenset[Use] = frozenset({"round", "seed", "sample"})
FIGURES.register(PaperFigure("subgraphs", "A part of the graph before and after pruning", "structure", subgraphs, USES))
