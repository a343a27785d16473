"""Nodes of one class."""

from __future__ import annotations

from analysis.subgraphs.growing import fill
from analysis.subgraphs.samplers import SAMPLERS, Choice, Sampler
from analysis.subgraphs.starting import random_start
from glt.data.graph import IntArray


def same_class(choice: Choice) -> IntArray:
    """Grow inside one class, from the center and then from other nodes of the class while there is room."""
    label = choice.graph.labels[choice.center] if choice.label is None else choice.label
    inside = choice.graph.labels == label
    start = choice.center if inside[choice.center] else random_start(choice.graph, choice.generator, label)
    return fill(choice.neighbours, start, choice.size, choice.generator, inside)


ABOUT = "Nodes of one class and the edges between them"
SAMPLERS.register(Sampler("class", "Class", ABOUT, 30, same_class, frozenset({"label"})))
