"""What the screen's and the paper's drawing of a curve share: words, ranges, areas, baselines, printed points."""

from __future__ import annotations

from analysis.marks.areas import KEY_SHARES, area_share
from analysis.marks.axes import (
    Window,
    dash_of_run,
    log_ticks,
    score_title,
    spread,
    window,
    x_column,
    x_title,
    x_values,
)
from analysis.marks.baselines import Baseline, baselines, cut
from analysis.marks.exits import Exit, exits, seed_exits
from analysis.marks.paper import PaperMark, paper_baselines, paper_marks

__all__ = [
    "KEY_SHARES",
    "Baseline",
    "Exit",
    "PaperMark",
    "Window",
    "area_share",
    "baselines",
    "cut",
    "dash_of_run",
    "exits",
    "log_ticks",
    "paper_baselines",
    "paper_marks",
    "score_title",
    "seed_exits",
    "spread",
    "window",
    "x_column",
    "x_title",
    "x_values",
]
