"""Which part of a graph to look at: a few hundred nodes chosen by walk, neighbourhood, class or community."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from analysis.subgraphs.communities import find_communities
from analysis.subgraphs.growing import Neighbours, fill, grow
from glt.data.graph import Graph, IntArray
from glt.errors import ConfigError, unknown_name

DEFAULT_SIZE = 150
RETURN_PROBABILITY = 0.15
STEPS_PER_NODE = 30


@dataclass(frozen=True)
class Choice:
    """What a sampler chooses from; `center` is always a node, `label` is a class or None for the center's."""

    graph: Graph
    neighbours: Neighbours
    size: int
    generator: Generator
    center: int
    label: int | None


@dataclass(frozen=True)
class Sampler:
    """One way to choose nodes: what users read about it, which wish it heeds, and the choice itself."""

    name: str
    label: str
    description: str
    uses_center: bool
    uses_label: bool
    choose: Callable[[Choice], IntArray]


def sample_nodes(
    graph: Graph,
    kind: str = "walk",
    size: int = DEFAULT_SIZE,
    seed: int = 0,
    center: int | None = None,
    label: int | None = None,
) -> IntArray:
    """Return at most `size` node indices in ascending order; the same arguments always give the same nodes.

    `kind` is one of SAMPLERS. Without `center` it starts at an end of a random edge (so rather at a hub), for a
    class at one inside it. Walk and ego stay in the component of the center. Raises ConfigError for an unknown
    kind, a size below 1, and a node or a class that the graph does not have.
    """
    if kind not in SAMPLERS:
        raise ConfigError(unknown_name("kind of sample", kind, SAMPLERS))
    if size < 1:
        raise ConfigError(f"A sample of {size} nodes shows nothing: choose a size of at least 1.")
    _check(graph, center, label)
    generator = np.random.default_rng(seed)
    start = _start(graph, generator, label if SAMPLERS[kind].uses_label else None) if center is None else center
    choice = Choice(graph, Neighbours.of(graph), size, generator, start, label)
    return np.sort(SAMPLERS[kind].choose(choice))


def _check(graph: Graph, center: int | None, label: int | None) -> None:
    if graph.num_nodes == 0:
        raise ConfigError(f"{graph.name} has no nodes to show: choose another data set.")
    if center is not None and not 0 <= center < graph.num_nodes:
        raise ConfigError(f"There is no node {center} in {graph.name}: choose one from 0 to {graph.num_nodes - 1}.")
    if label is not None and not (graph.labels == label).any():
        raise ConfigError(f"No node of {graph.name} has class {label}: choose one from 0 to {graph.num_classes - 1}.")


def _start(graph: Graph, generator: Generator, label: int | None) -> int:
    ends = graph.edges.ravel()
    nodes = np.arange(graph.num_nodes)
    if label is not None:
        ends, nodes = ends[graph.labels[ends] == label], nodes[graph.labels == label]
    return int(generator.choice(ends if ends.size else nodes))


def _walk(choice: Choice) -> IntArray:
    """Walk at random, return to the center now and then, and keep every node met.

    A walk that goes round in circles is filled up by growing around what it met.
    """
    found = {choice.center: None}
    here = choice.center
    for _ in range(STEPS_PER_NODE * choice.size):
        nearby = choice.neighbours.of_node(here)
        if len(found) == choice.size or nearby.size == 0:
            break
        here = int(choice.generator.choice(nearby))
        found[here] = None
        if choice.generator.random() < RETURN_PROBABILITY:
            here = choice.center
    return grow(choice.neighbours, np.fromiter(found, dtype=np.int64), choice.size, choice.generator)


def _ego(choice: Choice) -> IntArray:
    """Take the nodes nearest to the center; of the last ring as many as fit, at random."""
    return grow(choice.neighbours, np.array([choice.center]), choice.size, choice.generator)


def _class(choice: Choice) -> IntArray:
    """Grow inside one class, from the center and then from other nodes of the class while there is room."""
    label = choice.graph.labels[choice.center] if choice.label is None else choice.label
    inside = choice.graph.labels == label
    start = choice.center if inside[choice.center] else _start(choice.graph, choice.generator, label)
    return fill(choice.neighbours, start, choice.size, choice.generator, inside)


def _community(choice: Choice) -> IntArray:
    """Grow inside the community of the center (modularity, Blondel et al. 2008)."""
    community = find_communities(choice.graph)
    inside = community == community[choice.center]
    return fill(choice.neighbours, choice.center, choice.size, choice.generator, inside)


SAMPLERS: dict[str, Sampler] = {
    sampler.name: sampler
    for sampler in (
        Sampler("walk", "Random walk", "Nodes met on a walk that returns to its centre", True, False, _walk),
        Sampler("ego", "Ego network", "The nodes nearest to a centre", True, False, _ego),
        Sampler("class", "Class", "Nodes of one class and the edges between them", False, True, _class),
        Sampler("community", "Community", "A densely linked group around a centre", True, False, _community),
    )
}
