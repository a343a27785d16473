"""Paper figures, one file a figure, found through their registry."""

from __future__ import annotations

from analysis.export.figures.base import FIGURES, PaperFigure, draw

__all__ = ["FIGURES", "PaperFigure", "draw"]
