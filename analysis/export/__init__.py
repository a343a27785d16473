"""What leaves the studio: paper figures, LaTeX tables, CSV and JSON, all from the tables of the screen."""

from __future__ import annotations

from analysis.export.bundle import bundle_bytes
from analysis.export.choices import FigureChoices, Sample
from analysis.export.commands import figure_command
from analysis.export.data import csv_bytes, json_bytes
from analysis.export.figures import FIGURES, PaperFigure, draw
from analysis.export.latex import measurements_latex, paper_latex, tickets_latex
from analysis.export.rendering import FORMATS, figure_bytes
from analysis.export.venues import VENUES, Venue

__all__ = [
    "FIGURES",
    "FORMATS",
    "VENUES",
    "FigureChoices",
    "PaperFigure",
    "Sample",
    "Venue",
    "bundle_bytes",
    "csv_bytes",
    "draw",
    "figure_bytes",
    "figure_command",
    "json_bytes",
    "measurements_latex",
    "paper_latex",
    "tickets_latex",
]
