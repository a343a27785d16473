"""Tables as LaTeX: booktabs, escaped text, means with their intervals, the best in bold."""

from __future__ import annotations

from analysis.export.latex.measurements import measurements_latex
from analysis.export.latex.paper import paper_latex
from analysis.export.latex.tickets import tickets_latex

__all__ = ["measurements_latex", "paper_latex", "tickets_latex"]
