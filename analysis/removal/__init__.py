"""Removed edges: their rounds, causes and scores, and the losses of groups of edges and nodes."""

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
