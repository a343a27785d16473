"""Table 2: tickets against the same masks from fresh initialisations."""

from __future__ import annotations

from analysis import published
from analysis.reproduction import EXHIBITS
from analysis.reproduction.claims import Claim, leads
from analysis.reproduction.comparison import Comparison, compare_scores, of_methods
from analysis.reproduction.exhibit import Evidence, Exhibit, Picture

ROUNDS = (4, 5, 9, 16)
SUPERIOR = "Tickets are better than the same masks with weights drawn anew."


def compare(evidence: Evidence) -> list[Comparison]:
    """Return both rows of the table beside ours."""
    return of_methods(compare_scores(evidence), ("ugs", published.REINITIALISED))


def claims(evidence: Evidence) -> list[Claim]:
    """Test that the initialisation matters at the table's four sparsities."""
    return leads(evidence, SUPERIOR, "Section 4.4", "ugs", published.REINITIALISED, ROUNDS)


EXHIBITS.register(
    Exhibit("random-tickets", (Picture("curve", "Graph sparsity", published.TICKET_TABLE),), compare, claims)
)
