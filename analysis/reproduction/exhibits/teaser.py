"""Figure 1: every printed accuracy and MACs value, and the saving it is praised for."""

from __future__ import annotations

from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim, saves_macs
from analysis.reproduction.comparison import Comparison, compare_macs, compare_scores, of_methods
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture

METHODS = ("dense", "ugs", "random", "admm")


def compare(evidence: Evidence) -> list[Comparison]:
    """Return the printed accuracies and MACs beside ours."""
    return [*of_methods(compare_scores(evidence), METHODS), *compare_macs(evidence)]


def claims(evidence: Evidence) -> list[Claim]:
    """Test the saving claimed for this data set."""
    return saves_macs(evidence, evidence.setting.dataset)


EXHIBITS.register(Exhibit("teaser", (Picture("curve", "Graph sparsity", "Figure 1"),), compare, claims))
