"""Which edges were cut, when, how they scored, and who lost by it."""

from __future__ import annotations

from analysis.removal.edges import Closeness, Way, edges_of, no_scores, removal_causes, removal_rounds, removal_sentence
from analysis.removal.scores import Decision, decisions_of, score_table

__all__ = [
    "Closeness",
    "Decision",
    "Way",
    "decisions_of",
    "edges_of",
    "no_scores",
    "removal_causes",
    "removal_rounds",
    "removal_sentence",
    "score_table",
]
