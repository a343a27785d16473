"""The paper's Figure 1: scores at every level of sparsity, a panel a data set, marker area after the MACs left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis import palette
from analysis.drawing.description import Description, Grid, Key, Label, Layer, Panel, Ranges
from analysis.figures.base import CURVE, FIGURES, Figure, FigureChoices, rounds_caption
from analysis.figures.curves import (
    SHARES,
    Curves,
    Window,
    baselines,
    exit_notes,
    mark_keys,
    paper_marks,
    points,
    printed_layers,
    score_window,
)
from analysis.labels import dataset_label, model_label
from analysis.runs import must_have_rows
from analysis.tables.curves import FRONT_KEYS, XAxis, curve_table
from analysis.tables.rounds import rounds_table
from glt import formats
from glt.store import Run

# Pixels: the mark of the dense network, that of a run in the legend; how much wider a star is than a disc.
LARGEST, KEY_SIZE, STAR = 21.5, 11.0, 1.3
# The share of a panel that is added on top for words.
STRIP = 0.11


def teaser(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe a panel for each data set and network of the runs; raises StoreError when no round is finished."""
    rounds = must_have_rows(rounds_table(runs))
    several = [
        _curves(part, rounds, x, choices) for _, part in rounds.groupby(FRONT_KEYS, sort=False) for x in choices.axes
    ]
    told = "Marker area follows inference MACs; over a star: the share of the dense MACs that the ticket needs. "
    return Description(
        panels=[_panel(curves, choices.paper) for curves in several],
        keys=_keys(several, choices.paper),
        points=pd.concat([curves.table.assign(axis=curves.x) for curves in several], ignore_index=True),
        caption=told + rounds_caption(rounds, choices),
        grid=Grid(),
    )


def _curves(rounds: pd.DataFrame, family: pd.DataFrame, x: XAxis, choices: FigureChoices) -> Curves:
    table = curve_table(rounds, choices.score, x, choices.macs, choices.margin, family)
    printed = paper_marks(table, x, choices.macs) if choices.paper else []
    shown = score_window(table, [mark.point.score for mark in printed], choices.near)
    return Curves(table, rounds, x, choices.score, choices.macs, shown, largest=LARGEST)


def _panel(curves: Curves, paper: bool) -> Panel:
    printed = paper_marks(curves.table, curves.x, curves.macs) if paper else []
    notes, labels = exit_notes(curves), list(_saving(curves))
    if labels:
        low, high = curves.shown
        curves.shown = Window(low, high + STRIP * (high - low))
    first = curves.table.iloc[0]
    return Panel(
        x=curves.x_axis(),
        y=curves.y_axis(),
        layers=[*_rounds(curves), *printed_layers(curves, printed)],
        rules=baselines(curves),
        notes=notes,
        labels=labels,
        title=f"{dataset_label(first['dataset'])}, {model_label(first['model'])}",
    )


def _rounds(curves: Curves) -> Iterator[Layer]:
    for _, look, rows in curves.runs:
        dense = rows["round"] == 0
        for chosen, ink, shape, factor in (
            (dense, palette.style(palette.DENSE), "circle", 1.0),
            (~dense & ~rows["is_ticket"], look, "circle", 1.0),
            (rows["is_ticket"], look, palette.TICKET_SYMBOL, STAR),
        ):
            mine = rows[chosen]
            if not curves.looks.crowd:
                ends = {"low": 100 * mine["low"], "high": 100 * mine["high"]}
                yield Ranges(at=curves.place(mine["x"]), **ends, ink=ink, opacity=0.5, width=1.4)
            yield from points(curves, mine, ink, shape, factor * curves.size(mine["macs"]), opacity=0.9)


def _saving(curves: Curves) -> Iterator[Label]:
    """Yield over the cheapest ticket which share of the dense network's MACs it needs."""
    tickets = curves.table[curves.table["is_ticket"]]
    if tickets.empty:
        return
    best = tickets.loc[tickets["macs"].idxmin()]
    own = curves.table[(curves.table["run"] == best["run"]) & (curves.table["round"] == 0)]["macs"]
    words = f"{formats.fixed(100 * float(best['macs'] / own.iloc[0]), 1)}% of MACs"
    mark = float(curves.place(best["x"])), 100 * float(best["mean"])
    yield Label(text=words, ink=curves.looks.style(best["run"], best["method"]), mark=mark)


def _keys(several: Sequence[Curves], paper: bool) -> list[Key]:
    methods = dict.fromkeys(method for curves in several for method in curves.table["method"])
    keys = [
        Key(label=palette.label(method), ink=palette.style(method), shape="circle", size=KEY_SIZE)
        for method in (palette.DENSE, *methods)
    ]
    fullest = max(several, key=lambda curves: curves.most_macs)
    printed = paper and bool(paper_marks(fullest.table, fullest.x, fullest.macs))
    if len(several) == 1:
        return [*keys, *mark_keys(fullest, printed, SHARES, SHARES)]
    keys += mark_keys(fullest, printed, (), ())
    # Every panel has MACs of its own: areas are shares.
    for share in SHARES:
        words = f"{100 * share:g}%" + (" of MACs" if share == 1 else "")
        size = float(fullest.size(share * fullest.most_macs))
        keys.append(Key(label=words, shape="circle", size=size, about="marks"))
    return keys


FIGURES.register(Figure("teaser", "Teaser: score at sparsity, area after MACs (Figure 1)", "paper", teaser, CURVE))
