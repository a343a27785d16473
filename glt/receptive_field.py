"""Receptive fields as sets of nodes and entries, and the mask values with a gradient.

Needs no torch, so that pages can use it; `glt.sparse.operator` cuts its layers by the same sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glt.datasets.graph import Graph, IntArray
from glt.masks import BoolArray, EdgeMask


@dataclass(frozen=True)
class MaskEffect:
    """Where the value of an edge entry acts; by default as a factor of its messages.

    `degree_of`: a normalisation counts it in the degree of one end, and so in all that this node sends or receives.
    `cancels_alone`: messages are divided by the sum of their factors, so a node's only incoming value cancels.
    `joins_all_nodes`: a statistic over all nodes makes every output depend on every node. `pruned_send`: pruned
    entries still carry rows, always or only beside a surviving entry into the same node.
    """

    degree_of: Literal["source", "target"] | None = None
    cancels_alone: bool = False
    joins_all_nodes: bool = False
    pruned_send: Literal["always", "beside survivors"] | None = None


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries that pass messages: source, target, index of their mask value, and of their edge."""

    source: IntArray
    target: IntArray
    value: IntArray
    edge: IntArray

    def __getitem__(self, chosen: IntArray) -> Entries:
        return Entries(self.source[chosen], self.target[chosen], self.value[chosen], self.edge[chosen])


def surviving_entries(graph: Graph, mask: EdgeMask) -> Entries:
    """Return the entries that pass messages under a mask; raise ValueError for another graph's mask."""
    if mask.num_edges != graph.num_edges:
        raise ValueError(f"a mask of {mask.num_edges} edges on a graph of {graph.num_edges}")
    survivors = np.flatnonzero(mask.keep)
    numbers = np.arange(survivors.size)
    if mask.kind == "directed":
        source, target = graph.entries()[:, survivors]
        return Entries(source, target, numbers, survivors % max(graph.num_edges, 1))
    low, high = graph.edges[:, survivors]
    source, target = np.concatenate([low, high]), np.concatenate([high, low])
    return Entries(source, target, np.concatenate([numbers, numbers]), np.concatenate([survivors, survivors]))


def steps_towards(
    row: NDArray[np.integer], col: NDArray[np.integer], nodes: int, wanted: IntArray, depth: int
) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Yield for each of `depth` layers, last first, its entries [nnz] and sending nodes [N].

    Entry k carries a message from `col[k]` to `row[k]`. A layer passes the entries into the nodes that the next layer
    reads; the last one is read at the `wanted` nodes.
    """
    read = members(wanted, nodes)
    for _ in range(depth):
        entries = read[row]
        read = np.zeros(nodes, dtype=np.bool_)
        read[col[entries]] = True
        yield entries, read


def members(nodes: IntArray, count: int) -> BoolArray:
    """Mark which of `count` nodes are among `nodes`.

    >>> members(np.array([0, 2]), 4).tolist()
    [True, False, True, False]
    """
    found = np.zeros(count, dtype=np.bool_)
    found[nodes] = True
    return found


def values_in_reach(
    graph: Graph, mask: EdgeMask, loss_nodes: IntArray | None, layers: int, effect: MaskEffect
) -> BoolArray:
    """Mark the values [keep.size] that a loss at `loss_nodes` (None: all) depends on, if `mask` passes messages.

    Of removed entries, mark those whose value would count if each came back alone. True where the derivative is not
    zero for all weights and features; it may still vanish, at a node without features or where every ReLU is off.
    """
    every = surviving_entries(graph, EdgeMask.full(mask.kind, mask.num_edges))
    reaching = _reaching(graph, mask, every, loss_nodes, layers, effect)
    if effect.cancels_alone:
        alive = mask.keep[every.value]
        others = np.bincount(every.target[alive], minlength=graph.num_nodes)[every.target] - alive
        reaching &= others > 0
    found = np.zeros(mask.keep.size, dtype=np.bool_)
    # Both directions of an undirected mask's edge share one value.
    found[every.value[reaching]] = True
    return found


def _reaching(
    graph: Graph, mask: EdgeMask, entries: Entries, loss_nodes: IntArray | None, layers: int, effect: MaskEffect
) -> BoolArray:
    """Mark which of all `entries` have a value that can affect the loss, if the survivors of `mask` pass messages."""
    if loss_nodes is None or effect.joins_all_nodes:
        return np.ones(entries.source.size, dtype=np.bool_)
    surviving, loops = entries[np.flatnonzero(mask.keep[entries.value])], np.arange(graph.num_nodes)
    sending = surviving if effect.pruned_send is None else entries
    if effect.pruned_send == "beside survivors":
        sending = sending[np.flatnonzero(members(surviving.target, graph.num_nodes)[sending.target])]
    row, col = np.concatenate([sending.target, loops]), np.concatenate([sending.source, loops])
    targets = inputs = members(loss_nodes, graph.num_nodes)
    for _, read in steps_towards(row, col, graph.num_nodes, loss_nodes, layers):
        targets, inputs = inputs, read
    reaching = targets[entries.target]
    if effect.degree_of == "source":
        reaching |= inputs[entries.source]
    if effect.degree_of == "target":
        reaching |= inputs[entries.target]
    return reaching
