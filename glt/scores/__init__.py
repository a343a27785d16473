"""Edge scores: numbers that rank the edges of a graph without training; one family per file, and a registry."""

from glt.registry import Registry
from glt.scores.base import EdgeScore, Structure, edge_ranks

SCORES: Registry[EdgeScore] = Registry("score", "glt.scores")

__all__ = ["SCORES", "EdgeScore", "Structure", "edge_ranks"]
