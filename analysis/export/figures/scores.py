"""The scores of one edge over the rounds, beside those of all entries and the line below which they were cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from analysis import palette
from analysis.export.choices import FigureChoices
from analysis.export.figures.base import FIGURES, Drawing, Keys, PaperFigure, shown_round
from analysis.export.figures.curve_layers import DASHES
from analysis.export.figures.legend import run_key
from analysis.export.figures.panel_row import PanelRow, name_panels
from analysis.export.figures.run_lines import band, stroke
from analysis.labels import run_labels
from analysis.removal.edges import degrees, no_scores, removal_rounds
from analysis.removal.scores import decisions_of, line_table, score_table
from analysis.runs import shared_graph
from analysis.subgraphs.panel import node_name
from glt.datasets import Graph
from glt.errors import ConfigError, StoreError
from glt.store import Run

CUT_INK, MIDDLE_INK, OTHER_WAY = "#C2410C", "#5A636E", "#1F2328"
CUT, MIDDLE, BLUR = "Cut", "Middle half of all scores", "Equal at the line, as stored"
CROSS = 24.0


@dataclass(frozen=True, eq=False)
class Panel:
    """One run: where the line ran, how the edge scored in both directions, and whether ranks are all that is known."""

    label: str
    style: palette.Style
    lines: pd.DataFrame
    scores: pd.DataFrame
    ranks: bool


def scores(runs: Sequence[Run], choices: FigureChoices, width: float) -> Drawing:
    """Plan the scores of one edge in each run; raises StoreError when no run keeps scores, ConfigError for no edge."""
    graph = shared_graph(runs, "A figure of scores")
    edge = _edge(graph, runs, choices)
    panels = list(_panels(runs, choices, edge, graph))
    if not panels:
        raise StoreError(no_scores(runs[0].config.method))
    row = PanelRow(len(panels), width)
    ends = [node_name(graph, node) for node in graph.edges[:, edge].tolist()]
    ways = [f"{ends[0]} to {ends[1]}", f"{ends[1]} to {ends[0]}"]

    def fill(figure: FigureBase) -> Keys:
        areas = row.areas(figure)
        for area, panel in zip(areas, panels, strict=True):
            _draw(area, panel)
        name_panels(areas, [panel.label for panel in panels])
        return _keys(panels, ways)

    points = pd.concat([_points(panel) for panel in panels], ignore_index=True)
    told = f"The edge of nodes {ends[0]} and {ends[1]}: its score in every round it stood, a cross where it was cut."
    return Drawing(points, f"{told}{_causes(panels, ways)}", row.height, fill)


def _panels(runs: Sequence[Run], choices: FigureChoices, edge: int, graph: Graph) -> Iterator[Panel]:
    labels = run_labels(runs)
    for run in runs:
        seed, number = shown_round(run, choices)
        last = max(number, seed.whole_rounds() - 1)
        decisions = decisions_of(seed, [seed.edge_mask(each) for each in range(last + 1)], graph)
        if decisions:
            lines, rows = line_table(decisions), score_table(decisions, edge)
            ranks = any(decision.ranks for decision in decisions)
            style = palette.painted(run.config.method, run.annotation.color)
            yield Panel(labels[run.reference], style, lines, rows, ranks)


def _causes(panels: Sequence[Panel], ways: Sequence[str]) -> str:
    """Say which of the cuts had no gradient, "" where all had one or it is not known."""
    cuts = [(panel, cut) for panel in panels for cut in panel.scores.to_dict("records") if cut["cut"]]
    without = [
        f"{ways[cut['way']]} in round {cut['round']}{f' of {panel.label}' if len(panels) > 1 else ''}"
        for panel, cut in cuts
        if cut["gradient"] is False
    ]
    if not without:
        return ""
    return f" Cut without a gradient of the training loss, by the noise of the mask's start: {'; '.join(without)}."


def _edge(graph: Graph, runs: Sequence[Run], choices: FigureChoices) -> int:
    """Return the chosen edge, else that of the node with most neighbours which the first run cut first."""
    if choices.edge is not None:
        low, high = sorted(choices.edge)
        found = np.flatnonzero((graph.edges[0] == low) & (graph.edges[1] == high))
        if not found.size:
            raise ConfigError(f"There is no edge between nodes {low} and {high} of {graph.name}: choose another one.")
        return int(found[0])
    hub = int(degrees(graph).argmax())
    own = np.flatnonzero((graph.edges == hub).any(axis=0))
    seed, _ = shown_round(runs[0], choices)
    gone = removal_rounds([seed.edge_mask(number) for number in range(seed.whole_rounds())])[:, own]
    return int(own[_first_gone(gone)])


def _first_gone(gone: NDArray[np.integer[Any]]) -> int:
    """Return the column of the edge that was gone first, both ways; of edges that survive, the first."""
    last = np.where((gone > 0).all(axis=0), gone.max(axis=0), np.iinfo(np.int64).max)
    return int(np.argmin(last))


def _draw(area: Axes, panel: Panel) -> None:
    lines, rounds = panel.lines, panel.lines["round"]
    if panel.ranks:
        band(area, rounds, 100 * lines["blur_low"], 100 * lines["blur_high"], MIDDLE_INK, 0.15)
        band(area, rounds, 0.0 * lines["cut"], 100 * lines["cut"] / lines["entries"], CUT_INK, 0.3)
    else:
        band(area, rounds, lines["q25"], lines["q75"], MIDDLE_INK, 0.15)
        band(area, rounds, lines["q0"], lines["highest_cut"], CUT_INK, 0.3)
    for way, rows in panel.scores.groupby("way"):
        ink, dash, marker = _look(panel.style, int(way))
        heights = 100 * rows["rank"] if panel.ranks else rows["score"]
        stroke(area, rows["round"], heights, ink, dash, marker)
        cut = rows["cut"].to_numpy(dtype=np.bool_)
        area.scatter(rows["round"][cut], heights[cut], s=CROSS, c=ink, marker="x", linewidths=1.2, zorder=4)
    area.set_xlabel("Round")
    area.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    area.set_ylabel("Entries that scored lower (%)" if panel.ranks else "Score")


def _look(style: palette.Style, way: int) -> tuple[str, object, str]:
    """Return colour, dash and marker of a direction; they differ without colour too."""
    return (style.light, DASHES[0], "o") if way == 0 else (OTHER_WAY, DASHES[1], "s")


def _points(panel: Panel) -> pd.DataFrame:
    """Return the scores of the edge with the line of their rounds beside them."""
    joined = panel.lines.rename(columns={"cut": "entries_cut"}).drop(columns="entries")
    table = panel.scores.merge(joined, on="round", how="right")
    table.insert(0, "label", panel.label)
    return table


def _keys(panels: Sequence[Panel], ways: Sequence[str]) -> Keys:
    first = panels[0]
    shown = ways[: first.scores["way"].nunique()]
    runs = []
    for way, words in enumerate(shown):
        ink, dash, marker = _look(first.style, way)
        key = run_key(words, first.style, dash)
        key.set(color=ink, marker=marker)
        runs.append(key)
    grounds = [(CUT, CUT_INK, 0.3)]
    grounds += [(MIDDLE, MIDDLE_INK, 0.15)] if not first.ranks else []
    grounds += [(BLUR, MIDDLE_INK, 0.15)] if first.ranks and first.lines["blur_low"].notna().any() else []
    marks = [Line2D([], [], color=ink, alpha=opacity, linewidth=5, label=words) for words, ink, opacity in grounds]
    return Keys(runs, marks)


def _without_scores(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that keep no scores, where others do."""
    kept = [run for run in runs if _keeps_scores(run)]
    return [run for run in runs if run not in kept] if kept else []


def _keeps_scores(run: Run) -> bool:
    seed = run.existing_seed()
    return seed.whole_rounds() > 1 and seed.edge_scores(1) is not None


FIGURES.register(
    PaperFigure(
        "scores",
        "The scores of one edge over rounds",
        "structure",
        scores,
        frozenset({"seed", "edge"}),
        _without_scores,
        "keep no scores of edges",
    )
)
