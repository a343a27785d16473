"""A tidy curve table as a Plotly figure for the screen."""

from __future__ import annotations

from analysis.curves.figure import accuracy_figure

__all__ = ["accuracy_figure"]
