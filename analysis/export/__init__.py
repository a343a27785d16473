"""What leaves the studio: paper figures, LaTeX tables, CSV and JSON, all from the tables of the screen."""

from __future__ import annotations

from analysis.export.choices import FigureChoices
from analysis.export.figures import FIGURES, GROUPS, PaperFigure
from analysis.export.page import draw, on_page, plan
from analysis.export.rendering import DPI, FORMATS, check_dpi, figure_bytes
from analysis.export.tex import PGF, check_tex, formats_here
from analysis.export.venues import VENUES, Venue

__all__ = [
    "DPI",
    "FIGURES",
    "FORMATS",
    "GROUPS",
    "PGF",
    "VENUES",
    "FigureChoices",
    "PaperFigure",
    "Venue",
    "check_dpi",
    "check_tex",
    "draw",
    "figure_bytes",
    "formats_here",
    "on_page",
    "plan",
]
