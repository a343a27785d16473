"""Removed edges: their rounds, causes and scores, and the losses of groups of edges and nodes."""
