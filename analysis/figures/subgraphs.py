"""The same part of a graph before and after pruning, side by side: same nodes, same places, removed edges dashed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.drawing.description import DASHES, Axis, Description, Grid, Key, Layer, Marks, Panel, Segments
from analysis.figures.base import FIGURES, Figure, FigureChoices, Use, shown_round
from analysis.labels import dataset_label, run_labels
from analysis.palette import cause_style, escape
from analysis.removal.edges import Removals, causes_by_round, removal_history
from analysis.runs import shared_graph
from analysis.subgraphs.html import SHAPES, class_color, class_shape
from analysis.subgraphs.panel import BOTH, REMOVED, GraphPanel, make_panel, original_panel, panel_table, take
from analysis.subgraphs.samplers import Sample, sample_nodes
from glt.datasets import Graph
from glt.datasets.graph import IntArray
from glt.masks import BoolArray
from glt.methods.base import Cause
from glt.removal_causes import CAUSES, seed_source
from glt.store import Run, SeedRun

KEPT, GONE = "#57606A", "#C2410C"
# Diameters of nodes on a panel two inches wide.
SMALLEST, LARGEST = 4.4, 15.7
MOST_CLASSES, CLASS_SIZE, UNKNOWN_IN_GREY = 10, 9.6, "cross"
# Inches: the narrowest panel that can be read, a line of small text; the height of a panel by its width at most.
NARROWEST_PANEL, LINE, TALLEST = 2.2, 0.15, 1.5
PLOTLY_SHAPES = {"dot": "circle", "triangle": "triangle-up", "triangleDown": "triangle-down"}


def subgraphs(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the original sample and what a round of each run leaves of it; raises ConfigError for several graphs."""
    graph = shared_graph(runs, "A subgraph figure")
    parts = _parts(graph, runs, choices)
    across, up = np.maximum(np.ptp(parts[0].subgraph.positions, axis=0), 1e-9)
    ratio = float(min(up / across, TALLEST))
    return Description(
        panels=[_panel(part, choices) for part in parts],
        keys=list(_keys(parts, choices)),
        points=panel_table(parts),
        caption=_caption(runs, choices),
        grid=Grid(narrowest=NARROWEST_PANEL, ratio=ratio, flat=False, more=3 * LINE),
        lettered=False,
        below=True,
    )


def _parts(graph: Graph, runs: Sequence[Run], choices: FigureChoices) -> list[GraphPanel]:
    rounds = [shown_round(run, choices) for run in runs]
    masks = [seed.edge_mask(number) for seed, number in rounds]
    before = [seed.edge_mask(number - 1) if choices.fresh and number else None for seed, number in rounds]
    part = take(graph, _sampled(graph, choices.sample, ~masks[0].either_way()))
    labels = run_labels(runs)
    panels = [
        make_panel(graph, part, mask, f"{labels[run.reference]}, round {number}", earlier)
        for run, (_, number), mask, earlier in zip(runs, rounds, masks, before, strict=True)
    ]
    if choices.causes:
        removals = [_removals(graph, seed, number, part.edge_ids) for seed, number in rounds]
        panels = [replace(panel, removals=each) for panel, each in zip(panels, removals, strict=True)]
    return [original_panel(graph, part), *panels]


def _removals(graph: Graph, seed: SeedRun, number: int, edges: IntArray) -> Removals:
    """Return the removals of some edges up to a round, with their causes."""
    masks = [seed.edge_mask(each) for each in range(number + 1)]
    causes = causes_by_round(seed.config, graph, masks, seed_source(seed, graph))
    *_, last = removal_history(masks, causes, edges)
    return last


def _sampled(graph: Graph, sample: Sample, cut: BoolArray) -> IntArray:
    return sample_nodes(
        graph, sample.kind, sample.size, sample.seed, sample.center, sample.label, cut=cut, nodes=sample.nodes
    )


def _panel(part: GraphPanel, choices: FigureChoices) -> Panel:
    return Panel(
        x=Axis(title=_counts(part, choices.fresh), margin=0.03, empty=True),
        y=Axis(margin=0.03, empty=True),
        layers=[*_edges(part, choices.fresh), *_nodes(part, choices.grey)],
        title=part.title,
        square=True,
    )


def _edges(part: GraphPanel, mark_fresh: bool) -> Iterator[Layer]:
    gone, both = part.states == REMOVED, part.states == BOTH
    fresh = part.fresh & mark_fresh
    lines = part.subgraph.positions[part.subgraph.edges].transpose(1, 0, 2)
    quiet = 0.45 if fresh.any() else 0.7
    causes = [(0, None)] if part.removals is None else list(enumerate(CAUSES))
    decisive = np.zeros(gone.size, dtype=np.int8) if part.removals is None else part.removals.decisive
    for code, cause in causes:
        earlier = lines[gone & ~fresh & (decisive == code)]
        yield Segments(ends=earlier, width=1.0 if cause is None else 1.3, opacity=quiet, **_look(cause))
    yield Segments(ends=lines[~gone & ~both], ink=KEPT, width=0.9, opacity=0.6)
    yield Segments(ends=lines[both], ink=KEPT, width=1.6, opacity=0.85)
    for code, cause in causes if fresh.any() else []:
        yield Segments(ends=lines[fresh & (decisive == code)], width=2.4, **_look(cause))


def _look(cause: Cause | None) -> dict[str, Any]:
    """Return ink and dash of edges removed by a cause; None: it is unknown or not shown."""
    if cause is None:
        return {"ink": GONE, "dash": "short"}
    style = cause_style(cause)
    # A draw is no criterion: its dashes are shorter than those of a gradient.
    return {"ink": style.words, "dash": "short" if cause == "random" else DASHES[style.dash]}


def _nodes(part: GraphPanel, grey: bool) -> Iterator[Layer]:
    of = part.subgraph
    most = max(1, int(part.full_degrees.max(initial=0)))
    areas = SMALLEST**2 + (LARGEST**2 - SMALLEST**2) * part.degrees / most
    for label in np.unique(of.labels).tolist():
        for alone in (False, True):
            here = (of.labels == label) & ((part.degrees == 0) == alone)
            x, y = of.positions[here].T
            hover = [f"{escape(of.label_name(label))}, {count} edges" for count in part.degrees[here]]
            look: dict[str, Any] = {"size": np.sqrt(areas[here]), "shape": _shape(label, grey), "rim": 0.9}
            yield Marks(x=x, y=y, filled=np.full(here.sum(), not alone), ink=class_color(label), hover=hover, **look)


def _shape(label: int, grey: bool) -> str:
    """Return a class's marker; without colours every class needs a shape of its own, and so do unknown ones."""
    if grey and label < 0:
        return UNKNOWN_IN_GREY
    shape = SHAPES[label % len(SHAPES)] if grey else class_shape(label)
    return PLOTLY_SHAPES.get(shape, shape)


def _counts(part: GraphPanel, mark_fresh: bool) -> str:
    kept = int((part.states != REMOVED).sum())
    both = int((part.states == BOTH).sum())
    words = f"{kept} of {part.states.size} edges"
    words = words if both == kept else f"{words}, {both} both ways"
    return f"{words}, {int(part.fresh.sum())} just removed" if mark_fresh and part.fresh.any() else words


def _keys(parts: Sequence[GraphPanel], choices: FigureChoices) -> Iterator[Key]:
    states = np.concatenate([part.states for part in parts])
    yield Key(label="Kept", ink=KEPT, dash="solid", width=1.6)
    if not np.isin(states, (REMOVED, BOTH)).all():
        yield Key(label="Kept one way", ink=KEPT, dash="solid", width=0.9)
    removed = [(part.removals, part.states == REMOVED) for part in parts if part.removals]
    codes = {int(code) for removals, gone in removed for code in np.unique(removals.decisive[gone])}
    for code, cause in enumerate(CAUSES):
        if code in codes and cause is not None:
            yield Key(label=f"Removed: {cause}", width=1.3, **_look(cause))
    if (0 in codes) if removed else (states == REMOVED).any():
        yield Key(label="Removed", ink=GONE, dash="short", width=1.2)
    if choices.fresh and any(part.fresh.any() for part in parts):
        yield Key(label="Removed in this round", ink="muted" if choices.causes else GONE, dash="short", width=2.4)
    of = parts[0].subgraph
    labels = of.legend_labels()
    for label in labels if len(labels) <= MOST_CLASSES else []:
        looks: dict[str, Any] = {"shape": _shape(label, choices.grey), "size": CLASS_SIZE, "ink": class_color(label)}
        yield Key(label=of.label_name(label), short=of.label_name(label), about="marks", **looks)


def _caption(runs: Sequence[Run], choices: FigureChoices) -> str:
    seed, number = shown_round(runs[0], choices)
    marked = " Strong dashes: edges that lost their last direction in this round." if choices.fresh else ""
    who = ", ".join(run_labels(runs).values())
    shown = f"A part of {dataset_label(runs[0].config.dataset)} and what {who} leave{'s' * (len(runs) == 1)} of it"
    meaning = "Dashed edges are removed, thin ones kept in one direction, thick ones in both; the area of a node grows "
    meaning += "with its edges, and one without any is hollow."
    by_cause = " Colours: what decided the removal of an edge's last direction." if choices.causes else ""
    return f"{shown}: seed {seed.seed}, round {number}. {meaning}{by_cause}{marked}"


USES: frozenset[Use] = frozenset({"round", "seed", "sample"})
FIGURES.register(Figure("subgraphs", "A part of the graph before and after pruning", "structure", subgraphs, USES))
