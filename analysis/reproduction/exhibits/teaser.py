"""Figure 1: every printed accuracy and MACs value, and the saving it is praised for."""

from __future__ import annotations

from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim, saves_macs
from analysis.reproduction.comparison import METHOD_GROUPS, Comparison, compare_macs, compare_scores
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture


def rows(evidence: Evidence) -> list[Comparison]:
    """Return the printed accuracies and MACs beside ours."""
    return [*compare_scores(evidence, METHOD_GROUPS), *compare_macs(evidence)]


def claims(evidence: Evidence) -> list[Claim]:
    """Test the saving claimed for this data set."""
    return saves_macs(evidence, evidence.setting.dataset)


EXHIBITS.register(Exhibit("teaser", (Picture("curve", "Graph sparsity", "Figure 1"),), rows, claims, scores=True))
