"""Sample: which nodes of a graph a picture shows, as a page, a command and an address say it."""

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
from glt.errors import ConfigError
from glt.masks import BoolArray
from glt.registry import Registry
from glt.user_text import quoted


@dataclass(frozen=True)
class Sample:
    """Which nodes a picture shows: the arguments of `sample_nodes`.

    The kind "changed" takes the edges that the first run has removed by the round shown.
    """

    kind: str = "walk"
    size: int = 150
    seed: int = 0
    center: int | None = None
    label: int | None = None
    nodes: tuple[int, ...] = ()


# Growing a set of nodes ring by ring along the edges.


@dataclass(frozen=True, eq=False)
class Neighbours:
    """All neighbours of all nodes, one after the other: those of `node` lie from first[node] to first[node + 1]."""

    first: IntArray
    nodes: IntArray

    @staticmethod
    @lru_cache(maxsize=4)
    def of(graph: Graph) -> Neighbours:
        """Return the neighbours in the whole graph, found once."""
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
    """Return `start` and the rings around it until `size` nodes are found or none is left in reach.

    Only nodes where `inside` [N] is true are taken; of a ring that does not fit whole, a random part.
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
    """Grow inside a set of nodes, going on from a random other one of them whenever a component is used up."""
    free = inside.copy()
    found = grow(neighbours, np.array([start]), size, generator, free)
    free[found] = False
    while found.size < size and free.any():
        again = generator.choice(np.flatnonzero(free))
        piece = grow(neighbours, np.array([again]), size - found.size, generator, free)
        free[piece] = False
        found = np.concatenate([found, piece])
    return found


# Communities of a graph.


# Of a graph with more edges only the surroundings of a node are parted, so many nodes of them.
MOST_EDGES, SURROUNDINGS = 300_000, 20_000


@lru_cache(maxsize=4)
def find_communities(graph: Graph) -> IntArray:
    """Return the community of every node, [N], by multilevel modularity (Blondel et al. 2008); always the same."""
    return _parted(graph.num_nodes, graph.edges)


def community_of(graph: Graph, node: int) -> BoolArray:
    """Return which nodes, [N], lie in the community of one; of a large graph, in that among the nodes nearest to it."""
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


# Where a sample starts when nobody says where.


def random_start(graph: Graph, generator: Generator, label: int | None, size: int = 1) -> int:
    """Return an end of a random edge (so rather a hub), inside a class when `label` names one.

    Without a class it lies in a component of at least `size` nodes, or in the largest where none has so many.
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
    """Return [N] how many nodes the component of each node has, found once."""
    ones = np.ones(graph.num_edges, dtype=np.int8)
    matrix = csr_array((ones, (graph.edges[0], graph.edges[1])), shape=(graph.num_nodes, graph.num_nodes))
    component = connected_components(matrix, directed=False)[1]
    return np.asarray(np.bincount(component)[component])


# What a sampler is given and what it must say of itself.


# What a sampler asks for beside graph, size and draw.
Wish = Literal["center", "label", "cut", "nodes"]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a sampler chooses from.

    `draw` is the number that seeds the generator; `center` is always a node; `label` is a class, or None for the
    center's; `cut` [E] says which edges a round has removed; `nodes` are those asked for by name.
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
    """One way to choose nodes: what users read about it, which wishes it heeds, and the choice itself."""

    name: str
    label: str
    description: str
    order: int
    choose: Callable[[Choice], IntArray]
    uses: frozenset[Wish] = frozenset()

    @property
    def needs_more(self) -> bool:
        """Whether it cannot choose from the graph alone, but needs a round or a list of nodes."""
        return bool(self.uses & {"cut", "nodes"})


# Ways to choose the nodes of a picture: one file each, behind one small interface and a registry.


SAMPLERS: Registry[Sampler] = Registry("kind of sample", "analysis.subgraphs.samplers")


def in_order() -> list[Sampler]:
    """Return all samplers in the order in which they are offered."""
    return sorted(SAMPLERS, key=lambda sampler: (sampler.order, sampler.name))


__all__ = ["SAMPLERS", "Choice", "Sampler", "in_order"]


# Nodes asked for by name.


def by_node(choice: Choice) -> IntArray:
    """Take the nodes asked for and their neighbours; of the neighbours as many as fit, at random."""
    around = np.setdiff1d(choice.neighbours.of_nodes(choice.nodes), choice.nodes)
    room = max(choice.size - choice.nodes.size, 0)
    if around.size > room:
        around = choice.generator.choice(around, room, replace=False)
    return np.concatenate([choice.nodes, around])


SAMPLERS.register(Sampler("nodes", "By node", "Nodes you name and their neighbours", 60, by_node, frozenset({"nodes"})))


# A densely linked group.


def community(choice: Choice) -> IntArray:
    """Grow inside the community of the center (modularity, Blondel et al. 2008)."""
    inside = community_of(choice.graph, choice.center)
    return fill(choice.neighbours, choice.center, choice.size, choice.generator, inside)


ABOUT = "A densely connected group around a centre"
SAMPLERS.register(Sampler("community", "Community", ABOUT, 40, community, frozenset({"center"})))


# The neighbourhood of one node.


def ego(choice: Choice) -> IntArray:
    """Take the nodes nearest to the center; of the last ring as many as fit, at random."""
    return grow(choice.neighbours, np.array([choice.center]), choice.size, choice.generator)


SAMPLERS.register(Sampler("ego", "Ego network", "The nodes nearest to a centre", 20, ego, frozenset({"center"})))


# Where most edges went.


def most_changed(choice: Choice) -> IntArray:
    """Grow along removed edges from the node that lost most of them, then from others that lost some.

    Draw 0 starts at the node that lost most, draw 1 at the next one, and so on. Nodes that lost nothing are left out;
    before anything is removed, the nodes nearest to the node of highest degree stand for it.
    """
    cut = choice.graph.edges[:, choice.cut]
    lost = np.bincount(cut.ravel(), minlength=choice.graph.num_nodes)
    along = Neighbours.over(cut, choice.graph.num_nodes) if cut.size else choice.neighbours
    inside = lost > 0 if cut.size else np.ones(lost.size, dtype=np.bool_)
    weight = lost if cut.size else np.diff(choice.neighbours.first)
    start = np.argsort(-weight, kind="stable")[min(choice.draw, int(inside.sum()) - 1)]
    return fill(along, int(start), choice.size, choice.generator, inside)


MOST_CHANGED_ABOUT = "The nodes that lost most edges by the round shown; the draw starts at another one of them"
SAMPLERS.register(Sampler("changed", "Most changed", MOST_CHANGED_ABOUT, 50, most_changed, frozenset({"cut"})))


# Nodes of one class.


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


SAME_CLASS_ABOUT = "Nodes of one class and the edges between them"
SAMPLERS.register(Sampler("class", "Class", SAME_CLASS_ABOUT, 30, same_class, frozenset({"label"})))


# Nodes met on a random walk.


RETURN_PROBABILITY = 0.15
STEPS_PER_NODE = 30


def walk(choice: Choice) -> IntArray:
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


WALK_ABOUT = "Nodes on a random walk with restarts at its centre"
SAMPLERS.register(Sampler("walk", "Random walk", WALK_ABOUT, 10, walk, frozenset({"center"})))


# Which part of a graph to look at: a few hundred nodes chosen by one of the samplers.


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

    `kind` is one of SAMPLERS. Without `center` it starts at an end of a random edge (so rather at a hub) in a component
    of `size` nodes where there is one, for a class at one inside it. Walk and ego stay in the component of the center.
    `cut` [E] says which edges a round has removed, for "changed"; `nodes` are those asked for, for "nodes", which keeps
    all of them even beyond `size`.

    Raises ConfigError for an unknown kind, a size below 1, a node or a class that the graph does not have, and for a
    kind that lacks what it chooses by.
    """
    sampler = SAMPLERS.get(kind)
    if size < 1:
        raise ConfigError(f"A sample of {size} nodes is empty: choose a size of at least 1.")
    _check(graph, [*nodes, *([] if center is None else [center])], label)
    _check_given(sampler, cut, nodes)
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


def _check_given(sampler: Sampler, cut: BoolArray | None, nodes: Sequence[int]) -> None:
    if "cut" in sampler.uses and cut is None:
        raise ConfigError(
            f"The sample {sampler.label!r} is about a round: choose it on the page Subgraphs, or another."
        )
    if "nodes" in sampler.uses and not nodes:
        raise ConfigError(f"The sample {sampler.label!r} needs at least one node: name one, or choose another sample.")
