"""How the runs of a table look beside each other: colour and marker of the method, and a dash for each further run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.drawing.description import DASHES, EVEN, Dash, Key
from analysis.labels import own_styles
from analysis.style.palette import MOST, Style, crowd_styles, style


class RunLooks:
    """Looks of the runs in a table with the columns run, label, method and color.

    Runs look like their method unless `styles` says otherwise by their names, or a person chose a colour. More than
    `most` runs of a method are a crowd, in shades of its colour.
    """

    def __init__(self, table: pd.DataFrame, styles: Mapping[str, Style] | None = None, most: int = MOST) -> None:
        self._firsts = table.drop_duplicates("run")[["run", "label", "method"]]
        self._set, self._own = styles or {}, own_styles(table)
        self.crowd = {} if styles else crowd_styles(table, most)
        self._dashes = {} if styles else dash_of_run(table)

    def __len__(self) -> int:
        return len(self._firsts)

    def style(self, run: object, method: str) -> Style:
        """Return colours and marker of a run."""
        name = str(run)
        return self._set.get(name) or self._own.get(name) or self.crowd.get(name) or style(method)

    def dash(self, run: object) -> Dash:
        """Return the line of a run: its method's for the first of a method, solid for runs with styles of their own."""
        return DASHES[self._dashes.get(str(run), 0)]

    def keys(self, lines: bool = True, marks: bool = True, size: float = EVEN) -> list[Key]:
        """Return the legend key of every run: its line, its mark, or both."""
        return [
            Key(
                label=label,
                ink=(look := self.style(run, method)),
                dash=self.dash(run) if lines else "",
                shape=look.symbol if marks else "",
                size=size,
                group=run,
            )
            for run, label, method in self._firsts.itertuples(index=False, name=None)
        ]


def dash_of_run(table: pd.DataFrame) -> dict[str, int]:
    """Return which of the DASHES each run's line has: the first run of a method has the method's, others follow.

    A crowd that is a multiple of three takes three of them, so that in a grid of three values each keeps its dash.
    """
    runs = table[["run", "method"]].drop_duplicates()
    groups = runs.groupby("method")
    of_method = groups["run"].transform("size")
    period = np.where((of_method > len(DASHES)) & (of_method % 3 == 0), 3, len(DASHES))
    first = runs["method"].map(lambda method: style(method).dash)
    return dict(zip(runs["run"], (first + groups.cumcount()) % period, strict=True))
