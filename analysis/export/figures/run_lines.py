"""Lines and bands of runs over anything: the run's colour, marker and dash, as on the screen."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from analysis import marks, palette
from analysis.crowd import crowd_styles
from analysis.export.figures.curve_layers import DASHES
from analysis.export.figures.legend import run_key
from analysis.labels import own_styles

DOTTED = (0, (1, 1.2))


class RunLooks:
    """How the runs of a table (columns run, label, method, color) look beside each other."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.runs = table[["run", "label", "method"]].drop_duplicates("run")
        self._own, self.crowd = own_styles(table), crowd_styles(table)
        self._dashes = marks.dash_of_run(table)

    def style(self, run: str, method: str) -> palette.Style:
        """Return colours and marker of a run."""
        return self._own.get(run) or self.crowd.get(run) or palette.style(method)

    def dash(self, run: str) -> Any:
        """Return the line style of a run: solid for the first of a method, others after it."""
        return DASHES[self._dashes[run]]

    def keys(self) -> list[Line2D]:
        """Return one key a run."""
        rows = self.runs.itertuples(index=False, name=None)
        return [run_key(label, self.style(run, method), self.dash(run)) for run, label, method in rows]


def band(area: Axes, x: ArrayLike, low: ArrayLike, high: ArrayLike, ink: str, opacity: float = 0.15) -> None:
    """Fill between two curves, lightly; where one is NaN there is nothing."""
    area.fill_between(x, low, high, color=ink, alpha=opacity, linewidth=0)


def stroke(area: Axes, x: ArrayLike, y: ArrayLike, ink: str, dash: Any = "-", marker: str = "", **looks: Any) -> None:
    """Draw a line, with small markers where `marker` names one."""
    look = {"linewidth": 1.1, "markersize": 3.0, "markeredgewidth": 0, **looks}
    area.plot(x, y, color=ink, linestyle=dash, marker=marker or None, **look)
