"""Text alternatives of figures: a sentence with their numbers, and a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from glt import formats

MOST_SERIES = 8
UNTITLED = {"Group", "Value"}


@dataclass(frozen=True, eq=False)
class Series:
    """The marks of one name: their `places` on the axis `along` and `numbers` on the axis `measured`, both [n]."""

    name: str
    along: str
    measured: str
    places: tuple[Any, ...]
    numbers: tuple[float, ...]


def sentence(figure: go.Figure, title: str) -> str:
    """Return the title, and the first, last, lowest and highest value of each series.

    >>> sentence(go.Figure(go.Scatter(x=[0, 1, 2], y=[9, 3, 5], name="UGS")), "Accuracy")
    'Accuracy. UGS: 3 values, from 9 at 0 to 5 at 2, lowest 3 at 1, highest 9 at 0.'
    """
    named = series_of(figure)
    axes = {(series.measured, series.along) for series in named}
    measured = [f"Values are {a}, at {b}." for a, b in axes if len(axes) == 1 and UNTITLED.isdisjoint((a, b))]
    parts = [_described(series) for series in named]
    parts += [_heat(trace) for trace in figure.select_traces({"type": "heatmap"})]
    more = len(parts) - MOST_SERIES
    return " ".join([f"{title}.", *measured, *parts[:MOST_SERIES], *([f"And {more} more series."] if more > 0 else [])])


def table(figure: go.Figure) -> pd.DataFrame:
    """Return one row per mark of each series; columns are named by the axis titles."""
    parts = [
        pd.DataFrame({"Series": one.name, one.along: list(map(str, one.places)), one.measured: one.numbers})
        for one in series_of(figure)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["Series"])


def series_of(figure: go.Figure) -> list[Series]:
    """Return the named lines, marks and bars with two or more values.

    Pieces of one name on the same axes are joined; bands, background bars and legend keys are left out.
    """
    pieces: dict[tuple[str, str, str], list[Series]] = {}
    for trace in figure.data:
        is_band = trace.type == "scatter" and trace.fill not in (None, "none")
        is_background = trace.type == "bar" and trace.hoverinfo == "skip"
        if trace.type in ("scatter", "bar") and trace.name and not is_band and not is_background:
            piece = _series(figure, trace)
            pieces.setdefault((piece.name, trace.xaxis or "x", trace.yaxis or "y"), []).append(piece)
    joined = []
    for first, *more in pieces.values():
        places, numbers = list(first.places), list(first.numbers)
        for piece in more:
            places += piece.places
            numbers += piece.numbers
        joined.append(replace(first, places=tuple(places), numbers=tuple(numbers)))
    return [series for series in joined if len(series.numbers) > 1]


def _series(figure: go.Figure, trace: Any) -> Series:
    x, y = (list(values) if values is not None else [] for values in (trace.x, trace.y))
    along, measured = _title(figure, "x", trace), _title(figure, "y", trace)
    # Horizontal bars have their categories on the vertical axis.
    if y and isinstance(y[0], str):
        x, y, along, measured = y, x, measured, along
    known = [(place, float(value)) for place, value in zip(x, y, strict=False) if _is_number(value)]
    places, numbers = zip(*known, strict=True) if known else ((), ())
    return Series(unescape(trace.name), along, measured, places, numbers)


def _title(figure: go.Figure, axis: str, trace: Any) -> str:
    number = (trace[f"{axis}axis"] or axis)[1:]
    title = figure.layout[f"{axis}axis{number}"].title.text
    if not title:
        # Stacked panels share one title.
        others = (one.title.text for one in (figure.select_xaxes() if axis == "x" else figure.select_yaxes()))
        title = next(filter(None, others), "Group" if axis == "y" else "Value")
    return unescape(title)


def _is_number(value: Any) -> bool:
    return value is not None and not isinstance(value, str) and bool(np.isfinite(value))


def _described(one: Series) -> str:
    def at(index: int) -> str:
        place = one.places[index]
        words = formats.figures(place, 4) if _is_number(place) else unescape(str(place))
        return f"{formats.figures(one.numbers[index], 4)} at {words}"

    low, high = int(np.argmin(one.numbers)), int(np.argmax(one.numbers))
    ends = f"from {at(0)} to {at(-1)}, "
    return f"{one.name}: {len(one.numbers)} values, {ends}lowest {at(low)}, highest {at(high)}."


def _heat(trace: Any) -> str:
    cells = [
        (float(value), unescape(f"{row}, {column}"))
        for row, values in zip(trace.y, trace.z, strict=True)
        for column, value in zip(trace.x, values, strict=True)
        if _is_number(value)
    ]
    if not cells:
        return "No value."
    (low, low_place), (high, high_place) = min(cells), max(cells)
    what = unescape(trace.colorbar.title.text or "Value")
    lowest, highest = (f"{formats.figures(value, 4)} at {at}" for value, at in ((low, low_place), (high, high_place)))
    return f"{what}: {len(cells)} cells, lowest {lowest}, highest {highest}."
