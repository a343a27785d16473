"""Measured values as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from analysis.measures.bfs import SOURCES
from analysis.measures.registry import MEASURES
from glt import formats

COUNT_LABELS = {
    "graph_sparsity": "Graph sparsity",
    "entries_kept": "Entries kept (directed)",
    "edges_kept_either_way": "Edges kept, either way",
    "edges_kept_both_ways": "Edges kept, both ways",
    "edges_both_ways": "Edges (both ways)",
}
_SHARES = ("graph_sparsity", "entries_kept", "edges_kept_either_way", "edges_kept_both_ways")
_COUNTED = (
    "nodes",
    "edges",
    "edges_both_ways",
    "isolated_nodes",
    "components",
    "triangles",
    "largest_degree",
    "largest_core",
)


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


def is_counted(name: str) -> bool:
    """Say whether a measure counts something, so that only its means have decimals.

    >>> is_counted("triangles"), is_counted("mean_degree")
    (True, False)
    """
    return name in _COUNTED


def value(name: str, number: float) -> str:
    """Write a value of a measure or a count: shares in percent, numbers from 100 whole, the rest with five figures.

    >>> value("reach", 0.84221), value("edges", 5278), value("mean_edge_betweenness", 0.00100693)
    ('84.2 %', '5,278', '0.0010069')
    >>> value("average_path_length", float("nan")), value("degree_assortativity", -0.065871)
    ('–', '−0.065871')
    """
    if math.isnan(number):
        return formats.MISSING
    if is_share(name):
        return formats.percent(number)
    if abs(number) >= 100 or float(number).is_integer():
        return formats.count(number)
    return formats.fixed(number, 7) if abs(number) < 0.01 else formats.figures(number, 5)


def interval(name: str, mean: float, half_width: float) -> str:
    """Write a mean with the half-width of its interval: two figures of the latter, the mean to the same decimals.

    >>> interval("average_clustering", 0.16919, 0.0065798), interval("reach", 0.7571, 0.0102)
    ('0.1692 ± 0.0066', '75.7 ± 1.0 %')
    >>> interval("components", 178.2, 5.98), interval("degree_assortativity", -0.0559, 0.0012)
    ('178.2 ± 6.0', '−0.0559 ± 0.0012')
    """
    if math.isnan(mean) or math.isnan(half_width) or half_width <= 0:
        return value(name, mean)
    if is_share(name):
        return formats.percent_interval(mean, half_width)
    decimals = min(max(1 - math.floor(math.log10(half_width)), 0), 7)
    return f"{formats.fixed(mean, decimals)} ± {formats.fixed(half_width, decimals)}"


def estimated(names: Iterable[str]) -> str:
    """Say of measures that they are estimates, and how they came to be.

    >>> estimated(["average_path_length"])
    'Estimated, with a 95 % interval: average path length (shortest paths from 512 nodes, not from all).'
    """
    told = ", ".join(formats.inside(label(name)) for name in names)
    return f"Estimated, with a 95 % interval: {told} (shortest paths from {SOURCES} nodes, not from all)."


def largest_difference(differences: Mapping[str, float]) -> str:
    """Say how far NetworkX's values are from the faster versions', given the relative difference of each measure.

    >>> largest_difference({"reach": 0.0, "average_clustering": 2.3e-16})
    'Largest relative difference between NetworkX and our faster versions: 2.3e-16 (average clustering).'
    >>> largest_difference({"reach": 0.0})
    'NetworkX and our faster versions give the same numbers.'
    """
    name = max(differences, key=lambda each: differences[each])
    if not differences[name]:
        return "NetworkX and our faster versions give the same numbers."
    told = f"{differences[name]:.1e} ({formats.inside(label(name))})"
    return f"Largest relative difference between NetworkX and our faster versions: {told}."


def change(before: float, after: float) -> str:
    """Write how a value changed, relative to what it was; a dash where that says nothing: of 0, or below it.

    >>> change(5278, 4295), change(0.2, 0.25), change(0, 4), change(-0.06, -0.05)
    ('−18.6 %', '+25.0 %', '–', '–')
    """
    if not before > 0 or not after >= 0:
        return formats.MISSING
    text = formats.percent(after / before - 1)
    return f"+{text}" if after > before and not text.startswith("0.0") else text
