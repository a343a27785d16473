"""Figures 3 and A9: curves over three axes; the paper prints no numbers in them beyond those of Figure 1."""

from __future__ import annotations

from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim, leads, saves_macs
from analysis.reproduction.comparison import METHOD_GROUPS, Comparison, compare_scores
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture

PICTURES = (
    Picture("curve", "Graph sparsity", "Figure 3 (fig:node_cls)"),
    Picture("curve", "MACs", "Figure 3 (fig:node_cls)", "macs"),
    Picture("curve", "Weight sparsity", "Figure A9 (fig:more_small_weight)", "weight"),
)
SURPASSES = "UGS consistently surpasses random pruning."


def rows(evidence: Evidence) -> list[Comparison]:
    """Return the printed accuracies beside ours, where there are any."""
    return compare_scores(evidence, METHOD_GROUPS)


def claims(evidence: Evidence) -> list[Claim]:
    """Test the saving claimed over the data sets, and that UGS scores higher than random pruning."""
    return [*saves_macs(evidence), *leads(evidence, SURPASSES, "Observation 2, Section 4.1", "ugs", "random")]


EXHIBITS.register(Exhibit("node-classification", PICTURES, rows, claims, scores=True))
