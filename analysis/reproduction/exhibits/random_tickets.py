"""Table 2: tickets against random tickets, under both readings of what the paper draws anew.

The paper compares a ticket with "randomly re-initializing GNN's weights and learnable masks" and published no code for
it. Reading 1: only the weights are drawn anew, the masks are those that UGS found (our method `reinit`). Reading 2: the
masks are drawn anew too, which is random pruning (our method `random`).
"""

from __future__ import annotations

from analysis import palette, published
from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim, leads
from analysis.reproduction.comparison import READINGS, Comparison, compare_scores
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture

ROUNDS = (4, 5, 9, 16)
PLACE = "Section 4.4"
SUPERIOR = "Tickets are better than random tickets"


def rows(evidence: Evidence) -> list[Comparison]:
    """Return the row of tickets, and that of random tickets under both readings, beside ours."""
    return compare_scores(evidence, (palette.label("ugs"), *READINGS))


def claims(evidence: Evidence) -> list[Claim]:
    """Test at the table's four sparsities that tickets are better, under both readings."""
    return [
        claim
        for label, method in READINGS.items()
        for claim in leads(evidence, f"{SUPERIOR} ({label[0].lower()}{label[1:]}).", PLACE, "ugs", method, ROUNDS)
    ]


EXHIBITS.register(
    Exhibit("random-tickets", (Picture("curve", "Graph sparsity", published.TICKET_TABLE),), rows, claims, scores=True)
)
