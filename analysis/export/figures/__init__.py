"""Paper figures, one file a figure, found through their registry."""

from __future__ import annotations

from analysis.export.figures.base import FIGURES, GROUPS, Drawing, PaperFigure

__all__ = ["FIGURES", "GROUPS", "Drawing", "PaperFigure"]
