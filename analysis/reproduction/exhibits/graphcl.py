"""Figures 6 and A12: UGS from a pre-trained start."""

from __future__ import annotations

from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture, nothing
from glt import formats

PICTURES = (
    Picture("curve", "Graph sparsity", "Figure 6 (fig:graphcl)"),
    Picture("curve", "MACs", "Figure 6 (fig:graphcl)", "macs"),
    Picture("curve", "Weight sparsity", "Figure A12 (fig:graphcl_pub)", "weight"),
)

PLACE = "Section 4.3"
MODERATE = 0.40
SUPERIOR = "A pre-trained start gives better tickets up to 40 % graph sparsity."


def claims(evidence: Evidence) -> list[Claim]:
    """Test that the pre-trained start is ahead in every moderately pruned round."""
    trained = {run.name for run in evidence.runs if "pretraining" in run.config.options}
    rounds = evidence.rounds[(evidence.rounds["round"] > 0) & (evidence.rounds["graph_sparsity"] <= MODERATE)]
    means = rounds.assign(trained=rounds["run"].isin(trained)).pivot_table("test", "round", "trained").dropna()
    if means.empty or len(means.columns) < 2:
        return [Claim(SUPERIOR, PLACE, None, "not both starts have pruned rounds yet")]
    gaps = means[True] - means[False]
    words = (
        f"ahead in {int((gaps > 0).sum())} of {len(gaps)} rounds, by {formats.points(float(gaps.mean()))} on average"
    )
    return [Claim(SUPERIOR, PLACE, bool((gaps > 0).all()), words)]


EXHIBITS.register(Exhibit("graphcl", PICTURES, nothing, claims))
