"""Where labels stand: apart from each other, inside their panel, cut or wrapped to the room they have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from textwrap import wrap
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import FigureBase
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

# A line of average letters may turn out so many longer.
MORE_LETTERS = 4


class Foot(NamedTuple):
    """Where words at the foot of a panel stand: on which line from below, and whether right of their place."""

    level: int
    is_right: bool


def cut(words: str, most: int) -> str:
    """Return words of at most so many letters.

    >>> cut("UGS", 10), cut("Random pruning (hidden = 64)", 16)
    ('UGS', 'Random pruning (…')
    """
    return words if len(words) <= most else f"{words[:most].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Return the values moved to at least `gap` from each other, their order kept.

    >>> spread([80.0, 81.0, 70.0], 4.0)
    [78.5, 82.5, 70.0]
    """
    order = np.argsort(values, kind="stable")
    placed = np.asarray(values, dtype=np.float64)[order]
    for _ in range(len(placed)):
        overlap = np.maximum(gap - np.diff(placed), 0.0)
        placed[:-1] -= overlap / 2
        placed[1:] += overlap / 2
    result = np.empty_like(placed)
    result[order] = placed
    return [float(value) for value in result]


def feet(places: Sequence[float], widths: Sequence[float], to_the_right: Sequence[bool]) -> list[Foot]:
    """Return where words at the foot of a panel stand so that none touches another or leaves the panel.

    `places` and `widths` are shares of the axis.

    >>> feet([0.1, 0.5, 0.9], [0.3, 0.2, 0.2], [False, False, False])
    [Foot(level=0, is_right=True), Foot(level=1, is_right=False), Foot(level=0, is_right=False)]
    """
    found: list[Foot] = []
    spans: list[tuple[float, float]] = []
    for place, width, right in zip(places, widths, to_the_right, strict=True):
        is_right = place + width <= 1 if right else place < width
        span = (place, place + width) if is_right else (place - width, place)
        taken = {
            foot.level for foot, other in zip(found, spans, strict=True) if other[0] < span[1] and span[0] < other[1]
        }
        found.append(Foot(min(set(range(len(spans) + 1)) - taken), is_right))
        spans.append(span)
    return found


def wrap_words(words: str, room: float, width_of: Callable[[str], float]) -> str:
    r"""Return words in lines of at most `room`, as they are where they fit; never less than a letter a line.

    >>> wrap_words("one two three", 8, len)
    'one two\nthree'
    """
    wide = max(map(width_of, words.splitlines()), default=0.0)
    if wide <= room:
        return words
    text = " ".join(words.split())
    longest = max(int(len(text) * room / wide) + MORE_LETTERS, 1)
    tried = ("\n".join(wrap(text, letters)) for letters in range(longest, 0, -1))
    return next((lines for lines in tried if max(map(width_of, lines.splitlines())) <= room), "\n".join(text))


def log_ticks(low: float, high: float) -> list[float]:
    """Return the 1-2-5 steps inside a range of positive numbers, or even steps where those are fewer than three.

    >>> log_ticks(30, 600), log_ticks(95, 156)
    ([50.0, 100.0, 200.0, 500.0], [100.0, 120.0, 140.0])
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    inside = [step for step in steps if low <= step <= high]
    return inside if len(inside) > 2 else _even_ticks(low, high)


def _even_ticks(low: float, high: float) -> list[float]:
    unit = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(unit * times for times in (1, 2, 5, 10) if 4 * unit * times >= high - low)
    return [float(count * step) for count in range(math.ceil(low / step), math.floor(high / step) + 1)]


# Text in matplotlib: shown as it was written, and measured in inches.


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


# The legend outside a paper figure: its runs, then what marks mean, in one row where there is room.


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
    return Keys(*(_once(chain.from_iterable(part)) for part in zip(*several, strict=True)))


def _once(keys: Iterable[Line2D]) -> list[Line2D]:
    return list({str(key.get_label()): key for key in reversed(list(keys))}.values())[::-1]


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
    gap = _gap(keys)
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


def _gap(keys: Keys) -> float:
    """Return the inches of a column beside its words: the handle, and the space before and after."""
    dashed, usual = DASHED if _dashed(keys) else {}, mpl.rcParams
    handle = dashed.get("handlelength", usual["legend.handlelength"])
    between = dashed.get("columnspacing", usual["legend.columnspacing"])
    return float(handle + usual["legend.handletextpad"] + between) * _size() / 72


def _size() -> float:
    return FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points()


def _dashed(keys: Keys) -> bool:
    return any(key.get_linestyle() not in {"-", "None"} for key in chain.from_iterable(keys))


def by_row(rows: Sequence[Sequence[Artist]]) -> list[Artist]:
    """Return the keys in the order that keeps each row together: matplotlib fills a legend column by column."""
    blank = Line2D([], [], linestyle="none", label=" ")
    return list(chain.from_iterable(zip_longest(*rows, fillvalue=blank)))
