"""What leaves the studio: paper figures, LaTeX tables, CSV and JSON, all from the tables of the screen."""

from __future__ import annotations

from analysis.drawing.files import DPI, FORMATS, PGF, check_dpi, check_tex, figure_bytes, formats_here
from analysis.drawing.page import draw, on_page, plan
from analysis.drawing.venues import VENUES, Venue
from analysis.figures.base import FIGURES, GROUPS, Figure, FigureChoices

__all__ = [
    "DPI",
    "FIGURES",
    "FORMATS",
    "GROUPS",
    "PGF",
    "VENUES",
    "Figure",
    "FigureChoices",
    "Venue",
    "check_dpi",
    "check_tex",
    "draw",
    "figure_bytes",
    "formats_here",
    "on_page",
    "plan",
]
