"""Accuracy of runs that differ in one setting, a panel for every such setting, with the closest stretch enlarged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from analysis.ablation import Varied, ablation_panels, left_out, panel_axes, panel_rounds
from analysis.drawing.description import Description, Grid, Inset, Panel
from analysis.figures.base import CURVE, FIGURES, Figure, FigureChoices, rounds_caption
from analysis.figures.curves import Curves, baselines, exit_notes, run_layers, ticket_key
from analysis.tables.curves import XAxis, curve_table
from analysis.tables.rounds import rounds_table
from glt.store import Run

HEIGHT = 560
STANDARD = FigureChoices()


def ablation_curves(runs: Sequence[Run], *, x: XAxis = "graph", near: bool = True) -> Description:
    """Describe one panel a setting that differs among the runs, over one axis; raises as `ablation` does."""
    return ablation(runs, replace(STANDARD, x=x, near=near))


def ablation(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe one panel a setting that differs among the runs, over one axis or all three.

    A line a value with its 95% band, stars on tickets. A mark's key is [run, round]. Raises StoreError when no round is
    finished, ConfigError when the runs do not differ in single settings.
    """
    axes, rounds = choices.axes, rounds_table(runs)
    shown = [(varied, x, _curves(varied, x, rounds, choices)) for varied in ablation_panels(runs) for x in axes]
    points = [curves.table.assign(panel=varied.title, axis=x) for varied, x, curves in shown]
    return Description(
        panels=[_panel(varied, curves, choices.near) for varied, _, curves in shown],
        points=pd.concat(points).reset_index(drop=True),
        caption=rounds_caption(rounds, choices),
        grid=Grid(across=len(axes) if len(axes) > 1 else min(len(shown), 2), ratio=0.8, flat=False),
        height=HEIGHT,
    )


def _curves(varied: Varied, x: XAxis, rounds: pd.DataFrame, choices: FigureChoices) -> Curves:
    mine = panel_rounds(rounds, varied)
    table = curve_table(mine, choices.score, x, choices.macs, choices.margin, family=rounds)
    shown = panel_axes(table, x, choices.near).window
    return Curves(table, mine, x, choices.score, choices.macs, shown, varied.styles(), sized=False)


def _panel(varied: Varied, curves: Curves, near: bool) -> Panel:
    ranges, layers, inset = panel_axes(curves.table, curves.x, near), run_layers(curves, seeds=False), None
    if ranges.box is not None and ranges.corner is not None:
        box, corner = ranges.box, ranges.corner
        inset = Inset(x=(box.left, box.right), y=(box.low, box.high), place=corner, layers=layers)
    return Panel(
        x=replace(curves.x_axis(), limits=(ranges.first, ranges.last)),
        y=curves.y_axis(),
        layers=layers,
        rules=baselines(curves),
        notes=exit_notes(curves, seeds=False),
        # Every panel has its own legend, because its runs are its own.
        keys=[*curves.looks.keys(), *ticket_key(curves)],
        inset=inset,
        title=varied.title,
    )


FIGURES.register(
    Figure(
        "ablation",
        "Ablation: one setting varied",
        "paper",
        ablation,
        CURVE - {"paper"},
        left_out,
        "do not share the settings that a panel keeps fixed",
    )
)
