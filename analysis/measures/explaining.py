"""What every row of the table of measurements means, in plain words: definition, how to read it, what it costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.measures.registry import MEASURES, Cost, in_order
from analysis.measures.wording import COUNT_LABELS, label

COSTS: dict[Cost, str] = {
    "instant": "Instant: under a tenth of a second on PubMed's 20,000 nodes.",
    "seconds": "Seconds on PubMed's 20,000 nodes; kept once it is measured.",
    "background": "A minute or more on PubMed's 20,000 nodes: measured on demand only.",
}
COUNTING = "Instant: read off the edge mask."
COUNTED = "Counted from the run's edge mask."
# Definition and trap of what is counted on the mask, before any graph is measured.
_COUNTS = {
    "graph_sparsity": (
        "Share of the edge mask's entries that pruning removed: what the paper's axes show.",
        "A directed mask has an entry for each direction of an edge and may lose one of them alone, so half of the "
        "entries removed leaves far more than half of the edges joined: read it with both ways of counting edges.",
    ),
    "entries_kept": (
        "Share of the edge mask's entries that survive, each direction of an edge by itself: one less the sparsity.",
        "It lies between the edges kept both ways and those kept either way; two methods at equal entries need not "
        "have equally many edges.",
    ),
    "edges_kept_either_way": (
        "Share of the undirected edges of which at least one direction survives; all measures are of this graph, as "
        "in the paper.",
        "It flatters directed masks: along many of these edges messages pass in one direction only.",
    ),
    "edges_kept_both_ways": (
        "Share of the undirected edges of which both directions survive.",
        "When directions go at random it is about the square of the share of entries kept, so a low value alone does "
        "not say that a method prefers to cut one of two directions.",
    ),
    "edges_both_ways": (
        "How many undirected edges survive in both directions.",
        "Of undirected masks it equals the edges kept either way; no measure is of this smaller graph.",
    ),
}


@dataclass(frozen=True)
class Explanation:
    """One row in words.

    `name` is its field in files, `reading` what misleads and how not to be misled, `engine` who computes it.
    """

    name: str
    label: str
    definition: str
    reading: str
    cost: str
    engine: str


def explanations() -> Iterator[Explanation]:
    """Yield what every count and every measure means, in the order of tables."""
    for name in (*COUNT_LABELS, *(measure.name for measure in in_order())):
        yield explanation(name)


def explanation(name: str) -> Explanation:
    """Return what a count or a measure means: of a measure, the docstring of its function; raises ConfigError.

    >>> explanation("reach").definition
    'Share of pairs of different nodes that a path connects; no value for fewer than two nodes.'
    """
    if name in _COUNTS:
        return Explanation(name, label(name), *_COUNTS[name], COUNTING, COUNTED)
    measure = MEASURES.get(name)
    definition, _, reading = (measure.compute.__doc__ or "").partition("\n\n")
    return Explanation(
        name, measure.label, _plain(definition), _plain(reading), COSTS[measure.cost], _computed_by(name)
    )


def _computed_by(name: str) -> str:
    # NetworkX takes a third of a second to import, and only this needs it here.
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
    """Return a docstring as one line, in which measures have their labels and nothing is marked as code."""
    marks = "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"
    labels = {measure.name: f"{marks[0]}{measure.label}{marks[1]}" for measure in MEASURES}
    line = re.sub(r"`(\w+)`", lambda found: labels.get(found[1], found[1]), " ".join(text.split()))
    return re.sub(r"(^|\. )?\bNaN\b", lambda found: "no value" if found[1] is None else f"{found[1]}No value", line)
