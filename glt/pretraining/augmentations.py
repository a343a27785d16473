"""The four augmentations of GraphCL (You et al. 2020, table 1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from glt.datasets.graph import Graph, IntArray
from glt.datasets.link_split import NonEdges
from glt.errors import DataError
from glt.masks import BoolArray, prune_count
from glt.registry import Registry


@dataclass(frozen=True, eq=False)
class View:
    """A changed graph over the same N nodes and features.

    `edges` is [2, E'] as in Graph. Nodes outside `members` [N] have no edges and no part in the summary. Features of
    nodes that are not `visible` [N] count as zero.
    """

    edges: IntArray
    members: BoolArray
    visible: BoolArray


class Augmentation(ABC):
    """One way to draw a view."""

    name: str
    label: str
    description: str

    @abstractmethod
    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Draw a view that changes a `share` of the graph; raise DataError if that rounds to 0."""


AUGMENTATIONS: Registry[Augmentation] = Registry("augmentation")


def changed(share: float, total: int, things: str) -> int:
    """Return floor(share * total); raise DataError if that is 0.

    >>> changed(0.2, 14, "nodes")
    2
    """
    count = prune_count(share, total)
    if count == 0:
        raise DataError(
            f"A share of {share} of {total} {things} rounds down to 0, so views would not differ from the graph: raise "
            "share, or choose another augmentation."
        )
    return count


def everything(graph: Graph) -> BoolArray:
    """Mark every node [N]."""
    return np.ones(graph.num_nodes, dtype=np.bool_)


def all_but(graph: Graph, share: float, generator: np.random.Generator) -> BoolArray:
    """Mark all nodes [N] but a random share."""
    kept = everything(graph)
    kept[generator.choice(graph.num_nodes, changed(share, graph.num_nodes, "nodes"), replace=False)] = False
    return kept


def induced(graph: Graph, members: BoolArray) -> IntArray:
    """Return the edges [2, E'] between members."""
    return graph.edges[:, members[graph.edges].all(axis=0)]


class EdgePerturbation(Augmentation):
    """The number of edges stays; dropped ones are not added again."""

    name = "edges"
    label = "Edge perturbation"
    description = "Removes a share of the edges and adds as many new ones."

    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Draw the edges to drop and the pairs to join, both uniformly."""
        count = changed(share, graph.num_edges, "edges")
        kept = np.ones(graph.num_edges, dtype=np.bool_)
        kept[generator.choice(graph.num_edges, count, replace=False)] = False
        edges = np.concatenate([graph.edges[:, kept], new_edges(graph, count, generator)], axis=1)
        order = np.lexsort(edges[::-1])
        return View(edges[:, order], everything(graph), everything(graph))


def new_edges(graph: Graph, count: int, generator: np.random.Generator) -> IntArray:
    """Return `count` distinct pairs [2, count] without an edge; raise DataError if there are fewer."""
    others = NonEdges(graph.edges, graph.num_nodes)
    if others.count < count:
        raise DataError(
            f"{graph.name} has only {others.count} pairs of nodes without an edge, fewer than the {count} to add: "
            "lower share, or choose another augmentation."
        )
    return others.pairs(generator.choice(others.count, count, replace=False))


class AttributeMasking(Augmentation):
    """Nodes keep their edges; only their own features are zero."""

    name = "features"
    label = "Attribute masking"
    description = "Hides the features of a share of the nodes."

    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Draw whose features are hidden."""
        return View(graph.edges, everything(graph), all_but(graph, share, generator))


class NodeDropping(Augmentation):
    """The subgraph induced by the nodes that stay."""

    name = "nodes"
    label = "Node dropping"
    description = "Removes a share of the nodes with their edges."

    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Draw which nodes go."""
        members = all_but(graph, share, generator)
        return View(induced(graph, members), members, everything(graph))


class Subgraph(Augmentation):
    """The nodes that a random walk reaches; the others are left out."""

    name = "subgraph"
    label = "Subgraph"
    description = "Keeps the nodes that a random walk reaches, all but a share."

    def view(self, graph: Graph, share: float, generator: np.random.Generator) -> View:
        """Walk until all but the share of the nodes are reached."""
        members = walked(graph, graph.num_nodes - changed(share, graph.num_nodes, "nodes"), generator)
        return View(induced(graph, members), members, everything(graph))


def walked(graph: Graph, count: int, generator: np.random.Generator) -> BoolArray:
    """Mark [N] the `count` nodes that a walk reaches, never the same one twice.

    Each step goes to a random unreached neighbour of any node reached so far, as in GraphCL's sampling; if there is
    none, the walk restarts at a random node.
    """
    source, target = graph.entries()
    size = (graph.num_nodes, graph.num_nodes)
    adjacency = csr_array((np.ones(source.size, dtype=np.bool_), (source, target)), shape=size)
    starts, draws = generator.permutation(graph.num_nodes), generator.random(count)
    reached, seen = np.zeros(graph.num_nodes, dtype=np.bool_), np.zeros(graph.num_nodes, dtype=np.bool_)
    waiting: list[int] = []
    next_start = 0
    for draw in draws:
        if not waiting:
            next_start += int(np.argmin(seen[starts[next_start:]]))
            waiting.append(int(starts[next_start]))
            seen[starts[next_start]] = True
        chosen = int(draw * len(waiting))
        waiting[chosen], waiting[-1] = waiting[-1], waiting[chosen]
        node = waiting.pop()
        reached[node] = True
        neighbours = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        new = neighbours[~seen[neighbours]]
        seen[new] = True
        waiting.extend(new.tolist())
    return reached


for _augmentation in (EdgePerturbation(), AttributeMasking(), NodeDropping(), Subgraph()):
    AUGMENTATIONS.register(_augmentation)
