"""Measures in words: labels, definitions, pitfalls and formatted values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from analysis.measures import MEASURES, Cost, in_order
from analysis.measures.bfs import SOURCES
from glt import formats

COSTS: dict[Cost, str] = {
    "instant": "Instant: under a tenth of a second on PubMed's 20,000 nodes.",
    "seconds": "Seconds on PubMed's 20,000 nodes; cached.",
    "background": "A minute or more on PubMed's 20,000 nodes; measured on demand only.",
}
# Measures that count something, so that only their means have decimals.
COUNTED = {
    *("nodes", "edges", "edges_both_ways", "isolated_nodes"),
    *("components", "triangles", "largest_degree", "largest_core"),
}


class _Count(NamedTuple):
    label: str
    is_share: bool
    definition: str
    reading: str


_COUNTS = {
    "graph_sparsity": _Count(
        "Graph sparsity",
        True,
        "Share of the edge mask's entries that pruning removed, as on the paper's axes.",
        "A directed mask has an entry for each direction of an edge and may lose only one of them, so with half of the "
        "entries removed far more than half of the edges are kept either way: read it with both counts of edges.",
    ),
    "entries_kept": _Count(
        "Entries kept (directed)",
        True,
        "Share of the edge mask's entries that are kept, each direction of an edge counted separately: 1 - sparsity.",
        "It is between the edges kept both ways and those kept either way; two methods with equal entries can have "
        "different numbers of edges.",
    ),
    "edges_kept_either_way": _Count(
        "Edges kept, either way",
        True,
        "Share of the undirected edges with at least one kept direction; all measures are of this graph, as in the "
        "paper.",
        "Directed masks look better than they are: along many of these edges messages pass in one direction only.",
    ),
    "edges_kept_both_ways": _Count(
        "Edges kept, both ways",
        True,
        "Share of the undirected edges with both directions kept.",
        "Under random removal of directions it is about the square of the share of entries kept, so a low value alone "
        "does not show that a method prefers to remove one of two directions.",
    ),
    "edges_both_ways": _Count(
        "Edges (both ways)",
        False,
        "Number of undirected edges kept in both directions.",
        "For undirected masks it equals the edges kept either way; no measure is of this smaller graph.",
    ),
}
COUNT_LABELS = {name: count.label for name, count in _COUNTS.items()}


@dataclass(frozen=True)
class Explanation:
    """A row of the table of measurements in words: `name` is its field in files, `reading` its pitfalls."""

    name: str
    label: str
    definition: str
    reading: str
    cost: str
    engine: str


def explanations() -> Iterator[Explanation]:
    """Yield the explanation of every count and every measure, in the order of tables."""
    for name in (*COUNT_LABELS, *(measure.name for measure in in_order())):
        yield explanation(name)


def explanation(name: str) -> Explanation:
    """Return the explanation of a count or a measure (its function's docstring). Raises ConfigError.

    >>> explanation("reach").definition
    'Share of pairs of different nodes that a path connects; no value for fewer than two nodes.'
    """
    if count := _COUNTS.get(name):
        cost, engine = "Instant: counted on the edge mask.", "Counted on the run's edge mask."
        return Explanation(name, count.label, count.definition, count.reading, cost, engine)
    measure = MEASURES.get(name)
    definition, _, reading = (measure.compute.__doc__ or "").partition("\n\n")
    return Explanation(name, measure.label, _plain(definition), _plain(reading), COSTS[measure.cost], _engine(name))


def _engine(name: str) -> str:
    # NetworkX takes a third of a second to import.
    from analysis.measures.networkx_engine import DEFINITIONS, MOST_QUICK

    definition = DEFINITIONS.get(name)
    if definition is None:
        return "Our own definition: NetworkX has none."
    if definition.quick:
        return (
            f"Computed by NetworkX ({definition.functions}) up to {MOST_QUICK:,} nodes and edges; on larger graphs and "
            "over rounds by our faster version, equal to 1e-12."
        )
    return (
        f"NetworkX's definition ({definition.functions}), computed by our faster version, equal to "
        f"{definition.tolerance:g}; with the engine networkx, by NetworkX itself."
    )


def _plain(text: str) -> str:
    """Return a docstring as one line without code marks, measures by their labels."""
    marks = "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"
    labels = {measure.name: f"{marks[0]}{measure.label}{marks[1]}" for measure in MEASURES}
    line = re.sub(r"`(\w+)`", lambda found: labels.get(found[1], found[1]), " ".join(text.split()))
    return re.sub(r"(^|\. )?\bNaN\b", lambda found: "no value" if found[1] is None else f"{found[1]}No value", line)


def label(name: str) -> str:
    """Return the label of a measure or a count.

    >>> label("reach"), label("edges_kept_both_ways")
    ('Reach', 'Edges kept, both ways')
    """
    return COUNT_LABELS[name] if name in COUNT_LABELS else MEASURES.get(name).label


def is_share(name: str) -> bool:
    """Return whether a measure or a count is a share, written in percent.

    >>> is_share("reach"), is_share("edges_both_ways")
    (True, False)
    """
    return _COUNTS[name].is_share if name in _COUNTS else MEASURES.get(name).unit.startswith("share")


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
    """Write a mean ± half-width: two digits of the half-width, the mean to the same decimals.

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


def change(before: float, after: float) -> str:
    """Write a relative change; a dash from values of 0 and below.

    >>> change(5278, 4295), change(0.2, 0.25), change(0, 4), change(-0.06, -0.05)
    ('−18.6 %', '+25.0 %', '–', '–')
    """
    if not before > 0 or not after >= 0:
        return formats.MISSING
    text = formats.percent(after / before - 1)
    return f"+{text}" if after > before and not text.startswith("0.0") else text


def estimated(names: Iterable[str]) -> str:
    """Return the sentence that lists estimated measures and their sources.

    >>> estimated(["average_path_length"])
    'Estimated, with a 95 % interval: average path length (shortest paths from 512 nodes, not from all).'
    """
    listed = ", ".join(formats.inside(label(name)) for name in names)
    return f"Estimated, with a 95 % interval: {listed} (shortest paths from {SOURCES} nodes, not from all)."


def largest_difference(differences: Mapping[str, float]) -> str:
    """Return the sentence on the largest of the measures' relative differences between NetworkX and ours.

    >>> largest_difference({"reach": 0.0, "average_clustering": 2.3e-16})
    'Largest relative difference between NetworkX and our faster versions: 2.3e-16 (average clustering).'
    >>> largest_difference({"reach": 0.0})
    'NetworkX and our faster versions give the same numbers.'
    """
    name = max(differences, key=lambda measure: differences[measure])
    if not differences[name]:
        return "NetworkX and our faster versions give the same numbers."
    size = f"{differences[name]:.1e} ({formats.inside(label(name))})"
    return f"Largest relative difference between NetworkX and our faster versions: {size}."
