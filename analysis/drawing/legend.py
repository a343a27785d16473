"""Text in matplotlib, measured in inches, and the legend outside a paper figure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.figure import FigureBase
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

from analysis.drawing.labels import wrap_words

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
    return plain(wrap_words(as_drawn(label), room, lambda words: width_of(words, size)))


# A dash must show on both sides of the marker; what the keys gain, the gaps between columns lose.
DASHED = {"handlelength": 2.8, "columnspacing": 0.9}  # times the size of the font
# Inches: where one row is tried first, and what a legend's edges take.
ROOM_FOR_ONE_ROW, EDGE = 5.0, 0.15
# What a row, and each further line of its words, takes by their size, and the edge of a legend (inches).
LINE_SPACING, MORE_LINE, ROOM_AROUND = 1.5, 1.2, 0.05


class Keys(NamedTuple):
    """What a legend explains: the runs, then what the marks mean."""

    runs: Sequence[Line2D] = ()
    marks: Sequence[Line2D] = ()


def add_legend(figure: FigureBase, keys: Keys, width: float, below: bool = False) -> None:
    """Put a legend where constrained layout keeps its place free."""
    rows = key_rows(keys, width)
    if rows:
        look: Any = {
            **(DASHED if _dashed(keys) else {}),
            "loc": "outside lower center" if below else "outside upper left",
        }
        figure.legend(handles=by_row(rows), ncols=max(map(len, rows)), **look)


def legend_height(keys: Keys, width: float) -> float:
    """Return the inches that the legend takes in the current style."""
    rows = key_rows(keys, width)
    more = sum(max(str(key.get_label()).count("\n") for key in row) for row in rows)
    return (LINE_SPACING * len(rows) + MORE_LINE * more) * _size() / 72 + ROOM_AROUND if rows else 0.0


def merged(several: Sequence[Keys]) -> Keys:
    """Return the keys of several panels as one legend's, each label once."""
    parts = (reversed(list(chain.from_iterable(part))) for part in zip(*several, strict=True))
    return Keys(*(list({str(key.get_label()): key for key in part}.values())[::-1] for part in parts))


def key_rows(keys: Keys, width: float) -> list[Sequence[Line2D]]:
    """Put the keys into rows that fit `width` (inches): one, one of runs and one of marks, or as many as it takes.

    A label that is wider than all of it gets several lines.
    """
    together = [*keys.runs, *keys.marks]
    if not together:
        return []
    tried: list[list[Sequence[Line2D]]] = [[together]] if width > ROOM_FOR_ONE_ROW else []
    tried.append([row for row in keys if row])
    tried += [_cut(together, across) for across in range(len(together) - 1, 1, -1)]
    dashed, usual = DASHED if _dashed(keys) else {}, mpl.rcParams
    handle = dashed.get("handlelength", usual["legend.handlelength"])
    between = dashed.get("columnspacing", usual["legend.columnspacing"])
    # Inches of a column beside its words: the handle, and the space before and after.
    gap = float(handle + usual["legend.handletextpad"] + between) * _size() / 72
    wrap_labels(together, width - EDGE - gap)
    return next((rows for rows in tried if _width(rows, gap) <= width - EDGE), _cut(together, 1))


def _cut(keys: Sequence[Line2D], across: int) -> list[Sequence[Line2D]]:
    return [keys[start : start + across] for start in range(0, len(keys), across)]


def _width(rows: Sequence[Sequence[Line2D]], gap: float) -> float:
    """Return what rows under each other take: a legend's columns are as wide as their widest key."""
    widths = [[width_of(str(key.get_label())) for key in row] for row in rows]
    return sum(gap + max(column) for column in zip_longest(*widths, fillvalue=0.0))


def wrap_labels(keys: Sequence[Line2D], room: float) -> None:
    """Break labels that are wider than `room` (inches) into lines."""
    for key in keys:
        key.set_label(wrapped(str(key.get_label()), room))


def _size() -> float:
    return FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points()


def _dashed(keys: Keys) -> bool:
    return any(key.get_linestyle() not in {"-", "None"} for key in chain.from_iterable(keys))


def by_row(rows: Sequence[Sequence[Artist]]) -> list[Artist]:
    """Return the keys in the order that keeps each row together: matplotlib fills a legend column by column."""
    blank = Line2D([], [], linestyle="none", label=" ")
    return list(chain.from_iterable(zip_longest(*rows, fillvalue=blank)))
