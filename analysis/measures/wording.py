"""Measured values as people read them."""

from __future__ import annotations

import math

from analysis import formats
from analysis.measures.registry import MEASURES

COUNT_LABELS = {
    "graph_sparsity": "Graph sparsity",
    "edges_kept_either_way": "Edges kept, either way",
    "edges_kept_both_ways": "Edges kept, both ways",
    "edges_both_ways": "Edges (both ways)",
}
_SHARES = ("graph_sparsity", "edges_kept_either_way", "edges_kept_both_ways")


def label(name: str) -> str:
    """Return the words for a measure or a count.

    >>> label("reach"), label("edges_kept_both_ways")
    ('Reach', 'Edges kept, both ways')
    """
    return COUNT_LABELS[name] if name in COUNT_LABELS else MEASURES.get(name).label


def is_share(name: str) -> bool:
    """Say whether a measure or a count is a share, written in percent.

    >>> is_share("reach"), is_share("edges_both_ways")
    (True, False)
    """
    return name in _SHARES or (name not in COUNT_LABELS and MEASURES.get(name).unit.startswith("share"))


def value(name: str, number: float) -> str:
    """Write a value of a measure or a count: shares in percent, numbers from 100 whole, the rest with five figures.

    >>> value("reach", 0.84221), value("edges", 5278), value("mean_edge_betweenness", 0.00100693)
    ('84.2 %', '5,278', '0.0010069')
    >>> value("average_path_length", float("nan"))
    '–'
    """
    if math.isnan(number):
        return formats.MISSING
    if is_share(name):
        return formats.percent(number)
    if abs(number) >= 100 or float(number).is_integer():
        return formats.count(number)
    return f"{number:.7f}" if abs(number) < 0.01 else f"{number:.5g}"


def change(before: float, after: float) -> str:
    """Write how a value changed, relative to what it was; a dash where that says nothing.

    >>> change(5278, 4295), change(0.2, 0.25), change(0, 4)
    ('−18.6 %', '+25.0 %', '–')
    """
    if not before or math.isnan(before) or math.isnan(after):
        return formats.MISSING
    text = formats.percent(after / before - 1)
    return f"+{text}" if after > before and not text.startswith("0.0") else text
