"""Figures 6 and A12: UGS from a pre-trained start."""

from __future__ import annotations

from dataclasses import replace

from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim, leads
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture, nothing
from glt.pretraining.config import PRETRAINING

PICTURES = (
    Picture("curve", "Graph sparsity", "Figure 6 (fig:graphcl)"),
    Picture("curve", "MACs", "Figure 6 (fig:graphcl)", "macs"),
    Picture("curve", "Weight sparsity", "Figure A12 (fig:graphcl_pub)", "weight"),
)

PLACE = "Section 4.3"
TRAINED = "the pre-trained start"
MODERATE = 0.40
SUPERIOR = "A pre-trained start gives better tickets up to 40 % graph sparsity."


def claims(evidence: Evidence) -> list[Claim]:
    """Test that the pre-trained start scores higher in every moderately pruned round."""
    rounds = evidence.rounds
    trained = [run.reference for run in evidence.runs if PRETRAINING in run.config.options]
    starts = rounds["run"].isin(trained).map({True: TRAINED, False: "random"})
    moderate = rounds.loc[(rounds["round"] > 0) & (rounds["graph_sparsity"] <= MODERATE), "round"]
    both = replace(evidence, rounds=rounds.assign(method=starts))
    return leads(both, SUPERIOR, PLACE, TRAINED, "random", sorted({int(number) for number in moderate}))


EXHIBITS.register(Exhibit("graphcl", PICTURES, nothing, claims))
