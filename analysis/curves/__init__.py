"""A tidy curve table as a Plotly figure for the screen."""

from __future__ import annotations

from analysis.curves.ablation import ablation_figure
from analysis.curves.figure import accuracy_figure
from analysis.curves.pareto import pareto_figure
from analysis.curves.pretraining import pretraining_figure

__all__ = ["ablation_figure", "accuracy_figure", "pareto_figure", "pretraining_figure"]
