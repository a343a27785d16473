"""Nodes of one class."""

from __future__ import annotations

from analysis.subgraphs.growing import fill
from analysis.subgraphs.samplers import SAMPLERS, Choice, Sampler
from analysis.subgraphs.starting import random_start
from analysis.subgraphs.subgraph import has_classes, node_name
from glt.data.graph import Graph, IntArray
from glt.errors import ConfigError
from glt.printable import quoted


def same_class(choice: Choice) -> IntArray:
    """Grow inside one class, from the center and then from other nodes of the class while there is room.

    Raises ConfigError where the class is the center's and that is unknown.
    """
    label = int(choice.graph.labels[choice.center]) if choice.label is None else choice.label
    if label < 0:
        raise ConfigError(_unknown(choice.graph, choice.center))
    inside = choice.graph.labels == label
    start = choice.center if inside[choice.center] else random_start(choice.graph, choice.generator, label)
    return fill(choice.neighbours, start, choice.size, choice.generator, inside)


def _unknown(graph: Graph, node: int) -> str:
    if not has_classes(graph):
        return f"The nodes of {graph.name} have no classes: choose another kind of sample."
    name = quoted(node_name(graph, node))
    return f"The class of node {name} in {graph.name} is unknown: choose a class, another centre or another draw."


ABOUT = "Nodes of one class and the edges between them"
SAMPLERS.register(Sampler("class", "Class", ABOUT, 30, same_class, frozenset({"label"})))
