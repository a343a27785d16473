"""Samples of nodes for pictures: `sample_nodes` chooses some hundred nodes of a graph by one of SAMPLERS.

A new kind of sample is a function of a `Choice`, registered beside the others at the end of this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analysis.subgraphs.layout import seeded_igraph
from analysis.subgraphs.panel import has_classes, node_name
from glt.datasets.graph import Graph, IntArray
from glt.errors import ConfigError, quoted
from glt.masks import BoolArray
from glt.registry import Registry


@dataclass(frozen=True)
class Sample:
    """The arguments of `sample_nodes`; "changed" uses the edges that the first run has removed by the round shown."""

    kind: str = "walk"
    size: int = 150
    seed: int = 0
    center: int | None = None
    label: int | None = None
    nodes: tuple[int, ...] = ()


# Growth along the edges


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The neighbours of all nodes in one array: those of `node` are nodes[first[node] : first[node + 1]]."""

    first: IntArray
    nodes: IntArray

    @staticmethod
    @lru_cache(maxsize=4)
    def of(graph: Graph) -> Neighbours:
        """Return the neighbours in the whole graph; cached."""
        return Neighbours.over(graph.edges, graph.num_nodes)

    @classmethod
    def over(cls, edges: IntArray, num_nodes: int) -> Neighbours:
        """Return the neighbours over some undirected edges, [2, m], of a graph."""
        source, target = np.concatenate([edges, edges[::-1]], axis=1)
        matrix = csr_array((np.ones(source.size, dtype=np.int8), (source, target)), shape=(num_nodes, num_nodes))
        matrix.sort_indices()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))

    def of_node(self, node: int) -> IntArray:
        """Return the neighbours of one node in ascending order."""
        return self.nodes[self.first[node] : self.first[node + 1]]

    def of_nodes(self, nodes: IntArray) -> IntArray:
        """Return the nodes next to any of `nodes`, each once, in ascending order."""
        return np.unique(np.concatenate([self.of_node(int(node)) for node in nodes] or [np.empty(0, dtype=np.int64)]))


def grow(
    neighbours: Neighbours, start: IntArray, size: int, generator: Generator, inside: BoolArray | None = None
) -> IntArray:
    """Return `start` and rings of neighbours around it, up to `size` nodes.

    Only nodes where `inside` [N] is true are taken; the last ring is cut to a random part.
    """
    free = np.ones(neighbours.first.size - 1, dtype=np.bool_) if inside is None else inside.copy()
    found, ring = start[:size], start
    free[found] = False
    while ring.size and found.size < size:
        ring = neighbours.of_nodes(ring)
        ring = ring[free[ring]]
        if ring.size > size - found.size:
            ring = generator.choice(ring, size - found.size, replace=False)
        free[ring] = False
        found = np.concatenate([found, ring])
    return found


def fill(neighbours: Neighbours, start: int, size: int, generator: Generator, inside: BoolArray) -> IntArray:
    """Grow inside a set of nodes; continue from a random node of it where a component is exhausted."""
    free = inside.copy()
    found = grow(neighbours, np.array([start]), size, generator, free)
    free[found] = False
    while found.size < size and free.any():
        again = generator.choice(np.flatnonzero(free))
        piece = grow(neighbours, np.array([again]), size - found.size, generator, free)
        free[piece] = False
        found = np.concatenate([found, piece])
    return found


# Beyond this number of edges only the surroundings of a node are partitioned.
MOST_EDGES, SURROUNDINGS = 300_000, 20_000


@lru_cache(maxsize=4)
def find_communities(graph: Graph) -> IntArray:
    """Return the community of every node, [N], by multilevel modularity (Blondel et al. 2008); always the same."""
    return _parted(graph.num_nodes, graph.edges)


def community_of(graph: Graph, node: int) -> BoolArray:
    """Return the members, [N], of a node's community; for a large graph, within the nodes nearest to it."""
    if graph.num_edges <= MOST_EDGES:
        groups = find_communities(graph)
        return np.asarray(groups == groups[node])
    near = np.sort(grow(Neighbours.of(graph), np.array([node]), SURROUNDINGS, np.random.default_rng(0)))
    place = np.full(graph.num_nodes, -1, dtype=np.int64)
    place[near] = np.arange(near.size)
    ends = place[graph.edges]
    groups = _parted(near.size, ends[:, (ends >= 0).all(axis=0)])
    inside = np.zeros(graph.num_nodes, dtype=np.bool_)
    inside[near[groups == groups[place[node]]]] = True
    return inside


def _parted(nodes: int, edges: IntArray) -> IntArray:
    import igraph

    whole = igraph.Graph(n=nodes, edges=edges.T.tolist())
    with seeded_igraph(0):
        return np.array(whole.community_multilevel().membership, dtype=np.int64)


def random_start(graph: Graph, generator: Generator, label: int | None, size: int = 1) -> int:
    """Return an end of a random edge, which favours hubs; with `label` inside that class.

    Without a class it is in a component of at least `size` nodes, or in the largest one.
    """
    ends = graph.edges.ravel()
    nodes = np.arange(graph.num_nodes)
    if label is not None:
        ends, nodes = ends[graph.labels[ends] == label], nodes[graph.labels == label]
    start = int(generator.choice(ends if ends.size else nodes))
    if label is not None or not ends.size:
        return start
    members = _component_sizes(graph)
    roomy = members >= min(size, members.max())
    return start if roomy[start] else int(generator.choice(ends[roomy[ends]]))


@lru_cache(maxsize=4)
def _component_sizes(graph: Graph) -> IntArray:
    ones = np.ones(graph.num_edges, dtype=np.int8)
    matrix = csr_array((ones, (graph.edges[0], graph.edges[1])), shape=(graph.num_nodes, graph.num_nodes))
    component = connected_components(matrix, directed=False)[1]
    return np.asarray(np.bincount(component)[component])


# Samplers

# Inputs of a sampler beside graph, size and draw.
Input = Literal["center", "label", "cut", "nodes"]


@dataclass(frozen=True, eq=False)
class Choice:
    """The input of a sampler.

    `draw` seeds the generator; `center` is always a node; `label` is a class, or None for the center's; `cut` [E] marks
    the edges that a round has removed; `nodes` are the nodes of the kind "nodes".
    """

    graph: Graph
    neighbours: Neighbours
    size: int
    draw: int
    generator: Generator
    center: int
    label: int | None
    cut: BoolArray
    nodes: IntArray


@dataclass(frozen=True)
class Sampler:
    """One kind of sample: its label, description and order on pages, its function, and the inputs it uses."""

    name: str
    label: str
    description: str
    order: int
    choose: Callable[[Choice], IntArray]
    uses: frozenset[Input] = frozenset()


SAMPLERS: Registry[Sampler] = Registry("kind of sample", "analysis.subgraphs.samplers")


def in_order() -> list[Sampler]:
    """Return all samplers in the order of pages."""
    return sorted(SAMPLERS, key=lambda sampler: (sampler.order, sampler.name))


def by_node(choice: Choice) -> IntArray:
    """Take the given nodes and as many of their neighbours as fit, at random."""
    around = np.setdiff1d(choice.neighbours.of_nodes(choice.nodes), choice.nodes)
    room = max(choice.size - choice.nodes.size, 0)
    if around.size > room:
        around = choice.generator.choice(around, room, replace=False)
    return np.concatenate([choice.nodes, around])


SAMPLERS.register(Sampler("nodes", "By node", "Nodes you name and their neighbours", 60, by_node, frozenset({"nodes"})))


def community(choice: Choice) -> IntArray:
    """Grow inside the community of the center (modularity, Blondel et al. 2008)."""
    inside = community_of(choice.graph, choice.center)
    return fill(choice.neighbours, choice.center, choice.size, choice.generator, inside)


ABOUT = "A densely connected group around a centre"
SAMPLERS.register(Sampler("community", "Community", ABOUT, 40, community, frozenset({"center"})))


def ego(choice: Choice) -> IntArray:
    """Take the nodes nearest to the center; the last ring is cut to a random part."""
    return grow(choice.neighbours, np.array([choice.center]), choice.size, choice.generator)


SAMPLERS.register(Sampler("ego", "Ego network", "The nodes nearest to a centre", 20, ego, frozenset({"center"})))


def most_changed(choice: Choice) -> IntArray:
    """Grow along removed edges from the node that lost most of them, then from others that lost some.

    Draw 0 starts at the node that lost most edges, draw 1 at the next one, and so on. Nodes that lost no edge are left
    out. Where no edge is removed, the sample is the nodes nearest to the node of highest degree.
    """
    cut = choice.graph.edges[:, choice.cut]
    lost = np.bincount(cut.ravel(), minlength=choice.graph.num_nodes)
    along = Neighbours.over(cut, choice.graph.num_nodes) if cut.size else choice.neighbours
    inside = lost > 0 if cut.size else np.ones(lost.size, dtype=np.bool_)
    weight = lost if cut.size else np.diff(choice.neighbours.first)
    start = np.argsort(-weight, kind="stable")[min(choice.draw, int(inside.sum()) - 1)]
    return fill(along, int(start), choice.size, choice.generator, inside)


MOST_CHANGED_ABOUT = "The nodes that lost most edges by the round shown; another draw starts at another node"
SAMPLERS.register(Sampler("changed", "Most changed", MOST_CHANGED_ABOUT, 50, most_changed, frozenset({"cut"})))


def same_class(choice: Choice) -> IntArray:
    """Grow inside one class, from the center and then from other nodes of the class.

    Raises ConfigError where the center's class is needed but unknown.
    """
    label = int(choice.graph.labels[choice.center]) if choice.label is None else choice.label
    if label < 0:
        name = choice.graph.name
        if not has_classes(choice.graph):
            raise ConfigError(f"The nodes of {name} have no classes: choose another kind of sample.")
        node = quoted(node_name(choice.graph, choice.center))
        raise ConfigError(
            f"The class of node {node} in {name} is unknown: choose a class, another centre or another draw."
        )
    inside = choice.graph.labels == label
    start = choice.center if inside[choice.center] else random_start(choice.graph, choice.generator, label)
    return fill(choice.neighbours, start, choice.size, choice.generator, inside)


SAME_CLASS_ABOUT = "Nodes of one class and the edges between them"
SAMPLERS.register(Sampler("class", "Class", SAME_CLASS_ABOUT, 30, same_class, frozenset({"label"})))


RETURN_PROBABILITY = 0.15
STEPS_PER_NODE = 30


def walk(choice: Choice) -> IntArray:
    """Take the nodes of a random walk with restarts at the center.

    Where the walk visits too few nodes, the sample grows around them.
    """
    visited = {choice.center: None}
    node = choice.center
    for _ in range(STEPS_PER_NODE * choice.size):
        nearby = choice.neighbours.of_node(node)
        if len(visited) == choice.size or nearby.size == 0:
            break
        node = int(choice.generator.choice(nearby))
        visited[node] = None
        if choice.generator.random() < RETURN_PROBABILITY:
            node = choice.center
    return grow(choice.neighbours, np.fromiter(visited, dtype=np.int64), choice.size, choice.generator)


WALK_ABOUT = "Nodes on a random walk with restarts at its centre"
SAMPLERS.register(Sampler("walk", "Random walk", WALK_ABOUT, 10, walk, frozenset({"center"})))


DEFAULT_SIZE = 150


def sample_nodes(
    graph: Graph,
    kind: str = "walk",
    size: int = DEFAULT_SIZE,
    seed: int = 0,
    center: int | None = None,
    label: int | None = None,
    *,
    cut: BoolArray | None = None,
    nodes: Sequence[int] = (),
) -> IntArray:
    """Return at most `size` node indices in ascending order; the same arguments always give the same nodes.

    `kind` is one of SAMPLERS. Without `center` it starts at an end of a random edge, which favours hubs, in a component
    of `size` nodes where there is one, or inside the class `label`. Walk and ego stay in the component of the center.
    `cut` [E] marks the edges that a round has removed, for "changed"; `nodes` is for "nodes", which keeps all of them
    even beyond `size`. Raises ConfigError for an unknown kind, a size below 1, a node or a class that the graph does
    not have, and for a missing `cut` or `nodes`.
    """
    sampler = SAMPLERS.get(kind)
    if size < 1:
        raise ConfigError(f"A sample of {size} nodes is empty: choose a size of at least 1.")
    _check(graph, [*nodes, *([] if center is None else [center])], label)
    if "cut" in sampler.uses and cut is None:
        raise ConfigError(
            f"The sample {sampler.label!r} needs a round: choose it on the page Subgraphs, or choose another sample."
        )
    if "nodes" in sampler.uses and not nodes:
        raise ConfigError(f"The sample {sampler.label!r} needs at least one node: name one, or choose another sample.")
    generator = np.random.default_rng(seed)
    start_label = label if "label" in sampler.uses else None
    choice = Choice(
        graph=graph,
        neighbours=Neighbours.of(graph),
        size=size,
        draw=seed,
        generator=generator,
        center=random_start(graph, generator, start_label, size) if center is None else center,
        label=label,
        cut=np.zeros(graph.num_edges, dtype=np.bool_) if cut is None else cut,
        nodes=np.unique(np.array(nodes, dtype=np.int64)),
    )
    return np.sort(sampler.choose(choice))


def _check(graph: Graph, nodes: Sequence[int], label: int | None) -> None:
    if graph.num_nodes == 0:
        raise ConfigError(f"{graph.name} has no nodes to show: choose another data set.")
    for node in nodes:
        if not 0 <= node < graph.num_nodes:
            raise ConfigError(f"There is no node {node} in {graph.name}: choose one from 0 to {graph.num_nodes - 1}.")
    if label is not None and not (graph.labels == label).any():
        if not graph.num_classes:
            raise ConfigError(f"The nodes of {graph.name} have no classes: choose another kind of sample.")
        raise ConfigError(f"No node of {graph.name} has class {label}: choose one from 0 to {graph.num_classes - 1}.")
