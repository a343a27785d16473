"""Accuracies and MACs the paper prints, each with its place in it.

Points are matched by round, never by sparsity: the paper rounds 1 - 0.95^k, a mask of whole entries cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PAPER = "Chen et al., ICML 2021"
TEASER = "Figure 1 (fig:teaser), read off to 0.1 points"
TICKET_TABLE = "Table 2 (tab:random_GLT)"
BASELINE = "dense baseline of Figure 1 (fig:teaser), read off to 0.1 points"

DENSE = "dense"
# The name of the method that retrains a found ticket from fresh initialisations (the paper's Random GLT).
REINITIALISED = "reinit"


@dataclass(frozen=True)
class PublishedPoint:
    """One printed result: sparsities and the score are fractions as printed, MACs a count where the paper gives one."""

    dataset: str
    method: str
    round: int
    graph_sparsity: float
    weight_sparsity: float
    score: float
    macs: int | None
    source: str
    task: str = "node"
    model: str = "gcn"


_SPARSITY: Mapping[int, tuple[float, float]] = {
    0: (0.0, 0.0),
    4: (0.1855, 0.5904),
    5: (0.2262, 0.6723),
    8: (0.3366, 0.8322),
    9: (0.3698, 0.8658),
    13: (0.4867, 0.9450),
    16: (0.5599, 0.9719),
    17: (0.5819, 0.9775),
}
MACS: Mapping[str, Mapping[int, int]] = {
    "cora": {0: 2_007_000_000, 4: 826_000_000, 9: 275_000_000},
    "citeseer": {0: 6_299_000_000, 5: 2_068_000_000, 8: 1_062_000_000, 13: 351_000_000, 17: 146_000_000},
}
_SCORES: tuple[tuple[str, str, str, Mapping[int, float]], ...] = (
    ("cora", DENSE, BASELINE, {0: 0.807}),
    ("cora", "ugs", TICKET_TABLE, {4: 0.8080, 5: 0.8030, 9: 0.7930, 16: 0.7530}),
    ("cora", REINITIALISED, TICKET_TABLE, {4: 0.7970, 5: 0.7850, 9: 0.7570, 16: 0.6370}),
    ("cora", "random", TEASER, {4: 0.789, 9: 0.763}),
    ("cora", "admm", TEASER, {4: 0.787, 9: 0.775}),
    ("citeseer", DENSE, BASELINE, {0: 0.710}),
    ("citeseer", "ugs", TEASER, {8: 0.720, 13: 0.711, 17: 0.703}),
    ("citeseer", "random", TEASER, {8: 0.684, 13: 0.615, 17: 0.441}),
    ("citeseer", "admm", TEASER, {8: 0.702, 13: 0.671, 17: 0.674}),
)
POINTS: tuple[PublishedPoint, ...] = tuple(
    PublishedPoint(dataset, method, k, *_SPARSITY[k], score, MACS[dataset].get(k), source)
    for dataset, method, source, scores in _SCORES
    for k, score in scores.items()
)


def points(dataset: str, model: str = "gcn", task: str = "node") -> tuple[PublishedPoint, ...]:
    """Return the paper's points for one data set, model and task (none where the paper prints none).

    >>> [(p.round, p.score) for p in points("cora") if p.method == "ugs"]
    [(4, 0.808), (5, 0.803), (9, 0.793), (16, 0.753)]
    """
    return tuple(p for p in POINTS if (p.dataset, p.model, p.task) == (dataset, model, task))
