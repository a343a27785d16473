"""Betweenness of every node and edge."""

from __future__ import annotations

from app.widgets import frame
from glt.store import Run


def show(found: list[Run]) -> None:
    """Show it."""
    frame.empty("Not yet", "soon", "straighten")
