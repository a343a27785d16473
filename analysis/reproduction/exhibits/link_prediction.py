"""Figures 4 and A10: curves over three axes; the paper prints no numbers in them."""

from __future__ import annotations

from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim, leads, saves_macs
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture, nothing

PICTURES = (
    Picture("curve", "MACs", "Figure 4 (fig:link_pre)", "macs"),
    Picture("curve", "Graph sparsity", "Figure A10 (fig:more_small_link)"),
    Picture("curve", "Weight sparsity", "Figure A10 (fig:more_small_link)", "weight"),
)
SURPASSES = "UGS consistently surpasses random pruning."


def claims(evidence: Evidence) -> list[Claim]:
    """Test the saving claimed over networks and data sets, and that UGS scores higher than random pruning."""
    return [*saves_macs(evidence), *leads(evidence, SURPASSES, "Observation 2, Section 4.1", "ugs", "random")]


EXHIBITS.register(Exhibit("link-prediction", PICTURES, nothing, claims))
