"""Where labels stand: apart from each other, inside their panel, cut or wrapped to the room they have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import NamedTuple

import numpy as np

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
    if len(inside) > 2:
        return inside
    unit = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(unit * times for times in (1, 2, 5, 10) if 4 * unit * times >= high - low)
    return [float(count * step) for count in range(math.ceil(low / step), math.floor(high / step) + 1)]
