"""Panels in a row that begin and end at the same height."""

from __future__ import annotations

from collections import defaultdict

from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox


def keep_ticks(axis: Axis) -> None:
    """Keep the ticks an axis has: at another size it would have others, and their labels would take other room."""
    axis.set_major_locator(FixedLocator(axis.get_majorticklocs().tolist()))


def align(figure: Figure) -> None:
    """Let panels of a grid that stand in one row, each with one pair of axes, begin and end at the same height."""
    rows: dict[float, list[SubFigure]] = defaultdict(list)
    for part in figure.subfigs:
        if len({area.get_position().bounds for area in part.axes if area.get_visible()}) == 1:
            rows[round(part.bbox.y0, 3)].append(part)
    for parts in rows.values():
        places = [part.axes[0].get_position() for part in parts]
        low, high = max(place.y0 for place in places), min(place.y1 for place in places)
        for part, place in zip(parts, places, strict=True):
            for area in part.axes:
                area.set_position(Bbox.from_extents(place.x0, low, place.x1, high))
                # A place set by hand would take the axes out of the next layout.
                area.set_in_layout(True)
