"""Accuracy of every combination of edges and weights, a panel for each round: which half carries the ticket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis import palette
from analysis.attribution import Attribution, attributions, cell_scores, cells_table, chosen_attribution
from analysis.drawing.description import Axis, Description, Grid, Key, Layer, Marks, Panel, Ranges, Rule
from analysis.figures.base import FIGURES, Figure, FigureChoices
from analysis.labels import dataset_label, model_label
from analysis.palette import Style, escape
from analysis.statistics import seeds_words
from analysis.tables.curves import Score
from glt import formats
from glt.methods.combine import START_WORDS
from glt.reproduction.attribution import EDGE_WORDS, EDGES, STARTS, WEIGHTS
from glt.store import Run

HEIGHT = 480
WEIGHT_TICKS = {"ugs": "UGS", "random": "random", "random_layers": "per layer", "all": "all"}
SHAPES = {"ugs": "circle", "random": "square", "degree": "triangle-down", "all": "diamond"}
WEIGHT_AXIS = Axis(
    title="Source of the weights",
    ticks=range(len(WEIGHTS)),
    tick_words=[WEIGHT_TICKS[name] for name in WEIGHTS],
    limits=(-0.5, len(WEIGHTS) - 0.5),
)
# Width that the marks of one category share, and of an interval.
LANES, BAR = 0.72, 1.4


def attribution(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the one attribution among some runs; raises StoreError unless there is exactly one."""
    return attribution_cells(chosen_attribution(attributions(runs), None, None, None), choices.score)


def attribution_cells(found: Attribution, score: Score = "test") -> Description:
    """Describe the mean score of every cell with its 95% interval, a panel a round.

    Colours and shapes are sources of edges, places sources of weights; full marks start from theta_0, open ones afresh.
    """
    table = cells_table(found, score)
    points = cell_scores(table)
    dense = 100 * float(table[table["round"] == 0]["score"].mean())
    panels = [
        Panel(
            x=WEIGHT_AXIS,
            y=Axis(title="Test accuracy (%)" if place == 0 else "", grid=True),
            layers=list(_layers(rows)),
            rules=[] if np.isnan(dense) else [Rule(at=dense, name="Dense", value=formats.fixed(dense, 1))],
            title=f"Round {number}",
        )
        for place, (number, rows) in enumerate(points.groupby("round"))
    ]
    shown = [name for name in EDGES if (points["edges"] == name).any()]
    keys = [Key(label=EDGE_WORDS[name], ink=_look(name), shape=SHAPES[name], about="marks") for name in shown]
    keys += [
        Key(label=START_WORDS[name], shape="circle", filled=name == STARTS[0], about="marks")
        for name in STARTS
        if (points["start"] == name).any()
    ]
    across = 2 if len(panels) > 1 else 1
    words = f"{dataset_label(found.config.dataset)}, {model_label(found.config.model)}"
    seeds = seeds_words(int(points["seeds"].max())) if len(points) else "no seed"
    return Description(
        panels=panels,
        keys=keys,
        points=points,
        caption=f"{words}: edges and weights of {found.source} at each round, drawn, by degree product, or all of "
        f"them, with equal counts; {seeds}. Panels: rounds. Line: the dense network.",
        grid=Grid(across=across, ratio=0.7, flat=False),
        height=HEIGHT,
        below=True,
    )


def _look(edges: str) -> Style:
    """Return the colour of a source of edges: of UGS, random pruning, edge scores, or dense."""
    return palette.style({"ugs": "ugs", "random": "random", "degree": "score"}.get(edges, palette.DENSE))


def _layers(rows: pd.DataFrame) -> Iterator[Layer]:
    places = [(edges, start) for edges in EDGES for start in STARTS]
    for (edges, start), of_kind in rows.groupby(["edges", "start"], sort=False):
        lane = (places.index((edges, start)) + 0.5) / len(places) - 0.5
        x = np.array([WEIGHTS.index(name) for name in of_kind["weights"]]) + LANES * lane
        look = _look(edges)
        known = of_kind["low"].notna().to_numpy()
        bounds = {name: 100 * of_kind[name].to_numpy()[known] for name in ("low", "high")}
        yield Ranges(at=x[known], **bounds, ink=look, width=BAR, opacity=0.7)
        hover = [_text(row) for row in of_kind.to_dict("records")]
        y, shape = 100 * of_kind["mean"].to_numpy(), SHAPES[edges]
        yield Marks(x=x, y=y, shape=shape, filled=start == STARTS[0], ink=look, name=EDGE_WORDS[edges], hover=hover)


def _text(row: dict[Any, Any]) -> str:
    score = formats.percent_interval(row["mean"], row["high"] - row["mean"])
    what = f"{EDGE_WORDS[row['edges']]}, weights: {WEIGHT_TICKS[row['weights']]}, start: {START_WORDS[row['start']]}"
    return f"<b>{score}</b><br>{escape(what)}<br>({seeds_words(row['seeds'])})"


FIGURES.register(
    Figure("attribution", "Combinations of edges and weights", "curves", attribution, frozenset({"score"}))
)
