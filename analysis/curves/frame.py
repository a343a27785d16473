"""What every layer of one figure needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis import marks, palette, theme
from analysis.labels import own_styles
from analysis.tables.curves import Score, XAxis
from glt.store import MacConvention

HEIGHT = 540
LARGEST_MARKER = 14.0
EVEN_MARKER = 9.0
DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True, eq=False)
class Frame:
    """Tables, choices and the y window (percent) of one figure.

    Runs look like their method unless `styles` says otherwise by their names, or a person chose a colour; `sized` lets
    marker area follow MACs.
    Runs of a crowd (`crowd_styles`) are in shades of their method, and the picture keeps to means.
    """

    table: pd.DataFrame
    rounds: pd.DataFrame
    x: XAxis
    score: Score
    macs: MacConvention
    dark: bool
    shown: marks.Window
    styles: Mapping[str, palette.Style] = field(default_factory=dict)
    sized: bool = True
    crowd: Mapping[str, palette.Style] = field(default_factory=dict)

    def style(self, run: str, method: str) -> palette.Style:
        """Return how a run looks."""
        return self.styles.get(run) or self._own.get(run) or self.crowd.get(run) or palette.style(method)

    def words_color(self, run: str, method: str) -> str:
        """Return the colour of words about a run, readable on the theme's ground."""
        style = self.style(run, method)
        return style.dark if self.dark else style.words

    @cached_property
    def _own(self) -> Mapping[str, palette.Style]:
        return own_styles(self.table)

    @property
    def ink(self) -> theme.Ink:
        """The neutral colours of the figure's theme."""
        return theme.ink(self.dark)

    @property
    def largest(self) -> float:
        """The most MACs of any round shown: the largest marker."""
        return float(self.table["macs"].max()) if len(self.table) else 1.0

    def place(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return x values as drawn."""
        return marks.x_values(self.x, values)

    def size(self, macs: ArrayLike) -> NDArray[np.float64]:
        """Return marker diameters in pixels."""
        if not self.sized:
            return np.full(np.shape(macs), EVEN_MARKER)
        return LARGEST_MARKER * np.sqrt(marks.area_share(macs, self.largest))

    def dashes(self) -> dict[str, str]:
        """Return a line dash for every run: solid for the first of a method, others after it; of own style: solid."""
        dashes = marks.dash_of_run(self.table)
        return {run: DASHES[0 if run in self.styles else dash] for run, dash in dashes.items()}
