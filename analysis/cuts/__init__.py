"""Which edges were cut, when, how they scored, and who lost by it."""

from __future__ import annotations

from analysis.cuts.closeness import Closeness
from analysis.cuts.decisions import Decision, decisions_of, score_table
from analysis.cuts.edges_of import edges_of
from analysis.cuts.fates import removal_causes, removal_rounds
from analysis.cuts.score_figure import score_figure
from analysis.cuts.wording import Way, fate_sentence, no_scores

__all__ = [
    "Closeness",
    "Decision",
    "Way",
    "decisions_of",
    "edges_of",
    "fate_sentence",
    "no_scores",
    "removal_causes",
    "removal_rounds",
    "score_figure",
    "score_table",
]
