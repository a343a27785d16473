"""A tidy curve table as a Plotly figure for the screen."""

from __future__ import annotations

from analysis.curves.ablation import ablation_figure
from analysis.curves.degrees import Degrees, degree_figure
from analysis.curves.figure import accuracy_figure
from analysis.curves.pareto import pareto_figure
from analysis.curves.pretraining import pretraining_figure
from analysis.curves.trend import trend_figure

__all__ = [
    "Degrees",
    "ablation_figure",
    "accuracy_figure",
    "degree_figure",
    "pareto_figure",
    "pretraining_figure",
    "trend_figure",
]
