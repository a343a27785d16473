"""GraphOperator: a graph's surviving edge entries and their values.

A model asks it for an `Adjacency` (summed, averaged or normalised values), which passes messages layer by layer. For
training it can be cut down to a receptive field (`towards`) or to node clusters (`parts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from glt.config import DegreeKind
from glt.datasets.graph import Graph, IntArray
from glt.masks import EdgeMask
from glt.receptive_field import Entries, steps_towards, surviving_entries
from glt.sparse.dropout import Dropout
from glt.sparse.spmm import Structure, propagate

MeanDegree = Literal["surviving", "original"]
# Soft masks and sums of them can drop below zero; the square root needs a positive number.
SMALLEST_DEGREE = 1e-6


class GraphOperator:
    """Surviving entries plus one self-loop per node, never pruned.

    Pruned entries are absent, not zero. Entry (i, j) carries the message from i to j. `edge_values` holds one value per
    surviving entry of the mask, in mask order; both directions of an undirected edge share it. Without values, all are
    1.
    """

    def __init__(self, graph: Graph, mask: EdgeMask, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        self._graph = graph
        self._entries = surviving_entries(graph, mask)
        self.nodes = np.arange(graph.num_nodes)
        self.num_values = mask.kept
        self._device = device
        self._dtype = dtype
        self._layers: tuple[Layer, ...] = ()

    @property
    def num_nodes(self) -> int:
        """Number of nodes that messages pass between."""
        return int(self.nodes.size)

    @cached_property
    def structure(self) -> Structure:
        """The entries, then the self-loops, as a matrix pattern with targets as rows."""
        loops = np.arange(self.num_nodes)
        rows, cols = np.concatenate([self._entries.target, loops]), np.concatenate([self._entries.source, loops])
        return Structure.from_entries(rows, cols, (self.num_nodes, self.num_nodes), self._device)

    def parts(self, clusters: Sequence[IntArray]) -> Iterator[GraphOperator]:
        """Yield the operator of each of some disjoint clusters of nodes.

        Entries between clusters are left out; edge values stay those of the whole graph. An operator's `nodes` are
        the nodes of its rows.
        """
        place, cluster = np.zeros(self.num_nodes, dtype=np.int64), np.full(self.num_nodes, -1)
        for number, nodes in enumerate(clusters):
            place[nodes], cluster[nodes] = np.arange(nodes.size), number
        at_source = cluster[self._entries.source]
        inside = np.flatnonzero((at_source == cluster[self._entries.target]) & (at_source >= 0))
        inside = inside[np.argsort(at_source[inside], kind="stable")]
        ends = np.cumsum(np.bincount(at_source[inside], minlength=len(clusters)))
        for nodes, chosen in zip(clusters, np.split(inside, ends[:-1]), strict=True):
            entries = self._entries[chosen]
            ends_within = replace(entries, source=place[entries.source], target=place[entries.target])
            yield self._part(self.nodes[nodes], ends_within)

    def towards(self, wanted: IntArray, depth: int) -> GraphOperator:
        """Return the operator of `depth` layers cut to what `wanted` nodes (sorted) need.

        Degrees still count the whole graph. Twenty labelled nodes per class reach little of a graph in two steps: one
        node in seven of PubMed. Nothing else has a gradient, so nothing else need be computed to train.
        """
        structure, layers = self.structure, list[Layer]()
        row, col = structure.row.cpu().numpy(), structure.col.cpu().numpy()
        for entries, sending in steps_towards(row, col, self.num_nodes, wanted, depth):
            places, nodes = np.flatnonzero(entries), np.flatnonzero(sending)
            # Positions keep the order of nodes, so entries keep that of the whole structure.
            targets, sources = np.searchsorted(wanted, row[places]), np.searchsorted(nodes, col[places])
            part = Structure.from_entries(targets, sources, (wanted.size, nodes.size), self._device)
            own = np.searchsorted(nodes, wanted)
            kept, targets_among = (torch.from_numpy(each).to(self._device, torch.int64) for each in (places, own))
            layers.append(Layer(part, kept, targets_among, nodes, self.num_nodes))
            # A layer's targets are the next one's sources.
            wanted = nodes
        field = copy(self)
        field._layers = tuple(reversed(layers))
        return field

    def share_towards(self, wanted: IntArray, depth: int) -> float:
        """Return the share of entries in the first layer of `towards`; far cheaper."""
        structure = self.structure
        row, col = structure.row.cpu().numpy(), structure.col.cpu().numpy()
        count = row.size
        for entries, _ in steps_towards(row, col, self.num_nodes, wanted, depth):
            count = int(entries.sum())
        return count / structure.nnz

    def layer(self, number: int) -> Layer:
        """Return the messages of a layer (from 0)."""
        return self._layers[number] if self._layers else Layer(self.structure)

    def inputs(self) -> IntArray:
        """Return the nodes whose features a pass starts from, sorted."""
        nodes = self.layer(0).nodes
        return self.nodes if nodes is None else nodes

    def _part(self, nodes: IntArray, entries: Entries) -> GraphOperator:
        part = object.__new__(GraphOperator)
        part._graph, part._entries, part.nodes, part.num_values = self._graph, entries, nodes, self.num_values
        part._device, part._dtype, part._layers = self._device, self._dtype, ()
        return part

    def value_numbers(self) -> Tensor:
        """Return the indices of the edge values that this operator's entries read."""
        return torch.from_numpy(np.unique(self._entries.value)).to(self._device)

    def edge_features(self) -> Tensor | None:
        """Return edge features [nnz, D], zeros for self-loops; None without any."""
        if self._graph.edge_features is None:
            return None
        order, edges = self.structure.order.cpu().numpy(), self._entries.edge
        rows = np.zeros((order.size, self._graph.edge_features.shape[1]), dtype=np.float32)
        rows[order < edges.size] = self._graph.edge_features[edges[order[order < edges.size]]]
        return torch.from_numpy(rows).to(self._device, self._dtype)

    @cached_property
    def _value_index(self) -> Tensor:
        """Index of each entry's value in [edge values, value of self-loops]."""
        index = np.concatenate([self._entries.value, np.full(self.num_nodes, self.num_values)])
        return torch.from_numpy(index).to(self._device, self.structure.order.dtype)[self.structure.order]

    @cached_property
    def _full_degrees(self) -> Tensor:
        """Degrees of the unpruned graph, self-loops counted."""
        degrees = np.bincount(self._graph.edges.ravel(), minlength=self._graph.num_nodes)[self.nodes] + 1
        return torch.from_numpy(degrees).to(self._device, self._dtype)

    def entry_values(self, edge_values: Tensor | None, loops: Tensor | None = None) -> Tensor:
        """Return differentiable values [nnz] in CSR order, self-loops' being `loops` [1] (default 1)."""
        if edge_values is None and loops is None:
            return torch.ones(self.structure.nnz, dtype=self._dtype, device=self._device)
        if edge_values is None:
            edge_values = torch.ones(self.num_values, dtype=self._dtype, device=self._device)
        last = edge_values.new_ones(1) if loops is None else loops
        return torch.cat([edge_values, last]).index_select(0, self._value_index)

    def no_loops(self) -> Tensor:
        """Return the value 0 [1], for self-loops that carry nothing."""
        return torch.zeros(1, dtype=self._dtype, device=self._device)

    def summed(self, edge_values: Tensor | None, loops: Tensor) -> Adjacency:
        """Return the sum over sources plus `loops` [1] times the node.

        This is GIN's aggregation (Xu et al. 2019, eq. 4.1).
        """
        return Adjacency(self.structure, self.entry_values(edge_values, loops), self._layers)

    def averaged(self, edge_values: Tensor | None, loops: Tensor, degree: MeanDegree) -> Adjacency:
        """Return the mean over sources plus `loops` [1] times the node.

        The mean divides by the sum of surviving |values|, or by the unpruned graph's degree.
        """
        edges = self.entry_values(edge_values, loops.new_zeros(1))
        row = self.structure.row
        counts = self._degrees(edges.abs(), row) if degree == "surviving" else (self._full_degrees - 1).clamp(min=1)
        own = (self._value_index == self.num_values) * loops
        return Adjacency(self.structure, edges / counts.index_select(0, row) + own, self._layers)

    def normalised(self, edge_values: Tensor | None, degree: DegreeKind) -> Adjacency:
        """Return D^-1/2 (m * A + I) D^-1/2.

        This is section 3.1 of the paper with its misprinted exponent corrected. `degree` names the entries that D
        counts: those a node sends ("source"), receives ("target"), sends at the source end and receives at the target
        end ("both"), or the unpruned graph's ("fixed").
        """
        values = self.entry_values(edge_values)
        row, col = self.structure.row, self.structure.col
        if degree == "fixed":
            at_source = at_target = self._full_degrees.rsqrt()
        elif degree == "both":
            at_source, at_target = (self._degrees(values, ends).rsqrt() for ends in (col, row))
        else:
            at_source = at_target = self._degrees(values, col if degree == "source" else row).rsqrt()
        values = values * at_source.index_select(0, col) * at_target.index_select(0, row)
        return Adjacency(self.structure, values, self._layers)

    def _degrees(self, values: Tensor, ends: Tensor) -> Tensor:
        """Return sums [N] of values at the entries' `ends`."""
        return values.new_zeros(self.num_nodes).index_add(0, ends, values).clamp(min=SMALLEST_DEGREE)


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A weighted adjacency with self-loops: values [nnz] in the structure's order.

    In a receptive field each layer passes only its own messages, so calls name the `layer` (from 0).
    """

    structure: Structure
    values: Tensor
    layers: tuple[Layer, ...] = ()

    def layer(self, number: int) -> Layer:
        """Return the messages of a layer."""
        return self.layers[number] if self.layers else Layer(self.structure)

    def propagate(self, dense: Tensor, layer: int = 0) -> Tensor:
        """Return each target's weighted sum of its sources' rows of `dense` [N, width]."""
        part = self.layer(layer)
        return propagate(part.structure, part.values(self.values), dense)


@dataclass(frozen=True, eq=False)
class Layer:
    """The messages of one layer: `structure` is [targets, sources].

    In a receptive field `entries` are the positions of its entries in the whole structure, `own` those of its targets
    among its sources, and `nodes` the sources, out of `count` nodes.
    """

    structure: Structure
    entries: Tensor | None = None
    own: Tensor | None = None
    nodes: IntArray | None = None
    count: int = 0

    def values(self, values: Tensor) -> Tensor:
        """Return this layer's values [entries, ...] of the whole structure's [nnz, ...]."""
        return values if self.entries is None else values.index_select(0, self.entries)

    def targets(self, rows: Tensor) -> Tensor:
        """Return the targets' rows among the sources' [sources, ...]."""
        return rows if self.own is None else rows.index_select(0, self.own)

    def dropout(self, dropout: Dropout) -> Dropout:
        """Return a dropout for the sources' rows that draws for all rows."""
        return dropout if self.nodes is None else dropout.among(self.nodes, self.count)
