"""Controls of what a figure or a table shows: axis, MACs convention, test score, margin of a ticket."""

from __future__ import annotations

from typing import Literal, cast

from analysis.marks.axes import MAC_NAMES
from analysis.tables import Score, XAxis
from app.widgets import controls
from glt.store import MacConvention
from glt.verdicts import DELTA

AXES: dict[str, str] = {"graph": "Graph sparsity", "weight": "Weight sparsity", "macs": "MACs"}
SCORES: dict[str, str] = {"test": "best validation", "test_last": "last epoch"}
ABOUT_MARGIN = (
    "Set it before you look at scores. A round is a ticket when its seeds show that it loses less than this against "
    "the dense network of the same seeds (one-sided paired t test at 5 %, Holm over all rounds shown). It is no ticket "
    "when they show that it loses more, and open when they show neither. With fewer runs chosen fewer rounds are "
    "judged together, so a round that is open can be settled."
)


def pick_axis() -> XAxis:
    """Choose the horizontal axis."""
    return cast(XAxis, controls.segments("x", "Horizontal axis", AXES))


def pick_axes() -> XAxis | Literal["all"]:
    """Choose the horizontal axis, or all three as panels."""
    return cast(XAxis, controls.segments("x", "Horizontal axis", {**AXES, "all": "All three"}))


def pick_macs() -> MacConvention:
    """Choose how MACs are counted."""
    words = {str(name): text for name, text in MAC_NAMES.items()}
    return cast(MacConvention, controls.select("macs", "MACs count", words, width=150))


def pick_score() -> Score:
    """Choose at which epoch the test score is read."""
    return cast(Score, controls.select("score", "Test score at", SCORES, width=145))


def pick_margin() -> float:
    """Choose how much less than this a ticket must be shown to lose; returns a fraction."""
    points = controls.number(
        "margin", "Margin (points)", 100 * DELTA, 0.0, 5.0, 0.1, format="%.1f", width=175, help=ABOUT_MARGIN
    )
    return points / 100
