"""Labels that are wider than their place, in lines that are not."""

from __future__ import annotations

from textwrap import wrap
from typing import Literal

import matplotlib as mpl
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from analysis.export.figures.words import as_drawn, plain

Size = Literal["legend.fontsize", "axes.titlesize"]
LEGEND: Size = "legend.fontsize"
TITLE: Size = "axes.titlesize"
# A line of average letters may turn out so many longer.
MORE_LETTERS = 4


def width_of(label: str, size: Size = LEGEND) -> float:
    """Return the inches that plain words take in the current style, in letters of a size that matplotlib names."""
    letters = FontProperties(size=mpl.rcParams[size])
    lines = as_drawn(label).splitlines()
    return max((text_to_path.get_text_width_height_descent(line, letters, False)[0] for line in lines), default=0) / 72


def wrapped(label: str, room: float, size: Size = LEGEND) -> str:
    """Return plain words in lines of at most `room` inches, as they are where they fit; never less than a letter."""
    wide = width_of(label, size)
    if wide <= room:
        return label
    words = " ".join(as_drawn(label).split())
    longest = max(int(len(words) * room / wide) + MORE_LETTERS, 1)
    tried = (plain("\n".join(wrap(words, letters))) for letters in range(longest, 0, -1))
    return next((lines for lines in tried if width_of(lines, size) <= room), plain("\n".join(words)))
