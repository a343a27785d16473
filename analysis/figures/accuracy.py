"""Accuracy, or another task's score, against graph sparsity, weight sparsity or MACs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from analysis.drawing.description import Description, Grid, Note, Panel, Rule
from analysis.figures.base import CURVE, FIGURES, Figure, FigureChoices, rounds_caption
from analysis.figures.curves import (
    Curves,
    PaperMark,
    baselines,
    exit_notes,
    mark_keys,
    paper_baselines,
    paper_marks,
    printed_layers,
    run_layers,
    score_window,
)
from analysis.runs import must_have_rows
from analysis.tables.curves import Score, XAxis, curve_table
from analysis.tables.rounds import rounds_table
from glt import formats
from glt.store import MacConvention, Run

HEIGHT = 540


def accuracy_curves(
    table: pd.DataFrame,
    rounds: pd.DataFrame,
    *,
    x: XAxis = "graph",
    score: Score = "test",
    macs: MacConvention = "dense_features",
    paper: bool = False,
    near: bool = True,
    seeds: bool = True,
) -> Description:
    """Describe a `curve_table` over the `rounds_table` it came from (made with the same x, score and macs).

    A line and a 95% band a run, its `seeds` faint (both left out where more than four runs share a method), dense
    black with a dashed line, stars on tickets, marker area after MACs; with `paper`, the printed points as open
    marks. `near` ends the y axis 20 points below dense and names what falls deeper. A mark's key is [run, round].
    Raises ConfigError for runs of several tasks.
    """
    curves = Curves(table, rounds, x, score, macs, score_window(table))
    printed = paper_marks(table, x, macs) if paper else []
    extra = [*(mark.point.score for mark in printed), *(paper_baselines(table) if paper else ())]
    if seeds and not curves.looks.crowd:
        # Intervals widen the window by little: the line of a seed far from its mean would lie outside.
        extra += rounds.loc[rounds["run"].isin(table["run"]), score].tolist()
    curves.shown = score_window(table, extra, near)
    keys = [*curves.looks.keys(), *mark_keys(curves, bool(printed))]
    return Description(panels=[_panel(curves, printed, paper, seeds)], keys=keys, height=HEIGHT)


def accuracy(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe runs over one axis or all three; raises StoreError without rounds, ConfigError for several tasks."""
    rounds = must_have_rows(rounds_table(runs))
    several = [_curves(rounds, x, choices) for x in choices.axes]
    printed = [paper_marks(curves.table, curves.x, curves.macs) if choices.paper else [] for curves in several]
    panels = [_panel(*each, choices.paper, seeds=True) for each in zip(several, printed, strict=True)]
    first, points = several[0], [curves.table.assign(axis=curves.x) for curves in several]
    return Description(
        panels=panels,
        keys=[*first.looks.keys(), *mark_keys(first, bool(printed[0]))],
        points=pd.concat(points, ignore_index=True) if len(points) > 1 else first.table,
        caption=rounds_caption(rounds, choices),
        grid=Grid(across=len(panels), same_y=True),
        height=HEIGHT,
    )


def _curves(rounds: pd.DataFrame, x: XAxis, choices: FigureChoices) -> Curves:
    table = curve_table(rounds, choices.score, x, choices.macs, choices.margin)
    # Every panel has room for what any of them shows, because they share the y axis.
    printed = paper_marks(table, "graph", choices.macs) if choices.paper else []
    extra = [mark.point.score for mark in printed]
    curves = Curves(table, rounds, x, choices.score, choices.macs, score_window(table, extra, choices.near))
    best = rounds.loc[~rounds["run"].isin(curves.looks.crowd), choices.score].max()
    if 100 * best > curves.shown.high:
        # Seeds that fall below the window are named, so one above it would be the only one lost without a word.
        curves.shown = score_window(table, [*extra, best], choices.near)
    return curves


def _panel(curves: Curves, printed: Sequence[PaperMark], paper: bool, seeds: bool) -> Panel:
    sparsest = list(_sparsest(curves))
    looks: dict[str, Any] = {"ink": "muted", "name": "Paper's dense", "dash": "dot", "on": "screen"}
    means = paper_baselines(curves.table) if paper else []
    dense = [Rule(at=100 * mean, value=formats.percent(mean), **looks) for mean in means]
    return Panel(
        x=curves.x_axis(),
        y=curves.y_axis(),
        layers=[*run_layers(curves, seeds), *printed_layers(curves, printed)],
        rules=[*baselines(curves), *dense, *(rule for rule, _ in sparsest)],
        notes=[*(note for _, note in sparsest), *exit_notes(curves, seeds)],
        beside=True,
    )


def _sparsest(curves: Curves) -> Iterator[tuple[Rule, Note]]:
    """Yield a line down from the sparsest ticket of every run that is in no crowd, and its name."""
    rows = curves.table[curves.table["is_extreme"] & ~curves.table["run"].isin(curves.looks.crowd)]
    rows = rows.sort_values("x", ascending=curves.x == "macs").drop_duplicates(["method", "color", "round"])
    for row in rows.to_dict("records"):
        place, look = float(curves.place(row["x"])), curves.looks.style(row["run"], row["method"])
        line: dict[str, Any] = {"dash": "dot", "width": 1.2, "opacity": 0.7, "vertical": True, "top": 100 * row["mean"]}
        note = Note(x=place, text=f"ticket, round {row['round']}", ink=look, right=True, on="screen")
        yield Rule(at=place, ink=look, on="screen", **line), note


FIGURES.register(Figure("accuracy", "Test scores against sparsity or MACs", "curves", accuracy, CURVE))
