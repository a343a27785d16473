"""Controls for what a figure or a table holds rounds against: axis, MACs convention, score, tolerance."""

from __future__ import annotations

from typing import Literal, cast

from analysis.marks.axes import MAC_NAMES
from analysis.tables import Score, XAxis
from app.widgets import controls
from glt.store import MacConvention

AXES: dict[str, str] = {"graph": "Graph sparsity", "weight": "Weight sparsity", "macs": "MACs"}
SCORES: dict[str, str] = {"test": "best validation", "test_last": "last epoch"}
ABOUT_TOLERANCE = "A round is a ticket when its mean is at least the dense mean minus this tolerance."


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


def pick_tolerance() -> float:
    """Choose by how much a ticket may stay below its dense baseline; returns a fraction."""
    told = ABOUT_TOLERANCE
    points = controls.number("tolerance", "Tolerance (points)", 0.0, 0.0, 5.0, 0.1, format="%.1f", width=150, help=told)
    return points / 100
