"""What the paper (Chen et al., ICML 2021) prints, as data with its place in it, and what is known about it since."""

from __future__ import annotations

from analysis.published.facts import Fact, facts
from analysis.published.measurements import (
    MEASUREMENT_COLUMNS,
    MEASUREMENT_ROUND,
    MEASUREMENT_ROWS,
    MEASUREMENT_TABLE,
    SWAP_NOTE,
    measured_alike,
    measured_at,
    measurements,
    swapped,
)
from analysis.published.points import (
    BASELINE,
    DENSE,
    MACS,
    PAPER,
    POINTS,
    REINITIALISED,
    TEASER,
    TICKET_TABLE,
    PublishedPoint,
    points,
)
from analysis.published.reruns import RERUNS, Rerun, rerun_scores
from analysis.published.savings import SAVINGS, Saving, saving

__all__ = [
    "BASELINE",
    "DENSE",
    "MACS",
    "MEASUREMENT_COLUMNS",
    "MEASUREMENT_ROUND",
    "MEASUREMENT_ROWS",
    "MEASUREMENT_TABLE",
    "PAPER",
    "POINTS",
    "REINITIALISED",
    "RERUNS",
    "SAVINGS",
    "SWAP_NOTE",
    "TEASER",
    "TICKET_TABLE",
    "Fact",
    "PublishedPoint",
    "Rerun",
    "Saving",
    "facts",
    "measured_alike",
    "measured_at",
    "measurements",
    "points",
    "rerun_scores",
    "saving",
    "swapped",
]
