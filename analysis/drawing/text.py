"""Text in matplotlib: shown as it was written, and measured in inches."""

from __future__ import annotations

from typing import Literal

import matplotlib as mpl
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from analysis.drawing import labels

Size = Literal["legend.fontsize", "axes.titlesize"]
LEGEND: Size = "legend.fontsize"
TITLE: Size = "axes.titlesize"
# How matplotlib is told that a dollar is a dollar.
DOLLAR = r"\$"


def plain(text: str) -> str:
    r"""Return text that matplotlib draws as it is: a dollar opens no formula, a leading underscore hides no label.

    >>> plain("5 $ a $x^2$"), plain("_mine")
    ('5 \\$ a \\$x^2\\$', ' _mine')
    """
    return (" " if text.startswith("_") else "") + text.replace("$", DOLLAR)


def as_drawn(text: str) -> str:
    r"""Return plain text as matplotlib draws it.

    >>> as_drawn(plain("5 $ a $x^2$"))
    '5 $ a $x^2$'
    """
    return text.replace(DOLLAR, "$")


def width_of(label: str, size: Size = LEGEND) -> float:
    """Return the inches that plain words take in the current style, at a size that matplotlib names."""
    font = FontProperties(size=mpl.rcParams[size])
    lines = as_drawn(label).splitlines()
    return max((text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines), default=0) / 72


def wrapped(label: str, room: float, size: Size = LEGEND) -> str:
    """Return plain words in lines of at most `room` inches."""
    return plain(labels.wrapped(as_drawn(label), room, lambda words: width_of(words, size)))
