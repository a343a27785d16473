"""GraphOperator: the surviving entries of a graph with their current values; hides CSR, self-loops and device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from glt.config import Activation, DegreeKind
from glt.data.graph import Graph, IntArray
from glt.masks import EdgeMask
from glt.receptive_field import Entries, surviving_entries
from glt.sparse.dropout import Dropout
from glt.sparse.field import Layer, entries_towards, layers_towards
from glt.sparse.hidden import hidden_linear
from glt.sparse.structure import Structure

MeanDegree = Literal["surviving", "original"]
# A soft mask may dip below zero, and so may a degree made of it; the square root needs a positive number.
SMALLEST_DEGREE = 1e-6


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A weighted adjacency with self-loops, ready to pass messages: [nnz] values in the structure's order.

    In a receptive field each layer passes its own share of them, so it matters which `layer` sums or convolves.
    """

    structure: Structure
    values: Tensor
    layers: tuple[Layer, ...] = ()

    def layer(self, number: int) -> Layer:
        """Return which messages a layer passes, counted from 0."""
        return self.layers[number] if self.layers else Layer(self.structure)

    def propagate(self, dense: Tensor, layer: int = 0) -> Tensor:
        """Return, for every target, the weighted sum of its sources' rows of `dense` [N, width]."""
        return self.layer(layer).propagate(self.values, dense)

    def convolve(
        self, hidden: Tensor, weight: Tensor, dropout: Dropout, activation: Activation = "relu", layer: int = 0
    ) -> Tensor:
        """Return the propagated dropout(activation(hidden [N, H])) @ weight [H, C]; `hidden` is overwritten."""
        rows = hidden_linear(hidden, weight, self.layer(layer).dropout(dropout), activation)
        return self.propagate(rows, layer)


class GraphOperator:
    """Surviving entries (pruned ones are absent, not zero) plus one self-loop a node that is never pruned.

    Entry (i, j) carries the message from i to j. `edge_values` holds one value for every surviving entry of the
    mask, in mask order; both directions of an undirected mask's edge share it. Without values, all are 1.
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
        """The entries, then the self-loops, as the pattern of a matrix with targets as rows."""
        loops = np.arange(self.num_nodes)
        rows, cols = np.concatenate([self._entries.target, loops]), np.concatenate([self._entries.source, loops])
        return Structure.from_entries(rows, cols, (self.num_nodes, self.num_nodes), self._device)

    def parts(self, clusters: Sequence[IntArray]) -> Iterator[GraphOperator]:
        """Yield, one after the other, the operator of each of some disjoint clusters of nodes.

        What joins two clusters is left out; edge values stay those of the whole graph, and `nodes` says whose rows
        an operator's are.
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
        """Return the operator of `depth` layers that passes only what the outputs of `wanted` nodes (sorted) need.

        Degrees still count the whole graph.
        """
        field = copy(self)
        field._layers = layers_towards(self.structure, wanted, depth)
        return field

    def share_towards(self, wanted: IntArray, depth: int) -> float:
        """Return the share of the entries that the first layer of `towards` would pass."""
        return entries_towards(self.structure, wanted, depth) / self.structure.nnz

    def layer(self, number: int) -> Layer:
        """Return which messages a layer passes, counted from 0: all of them, unless this is a receptive field."""
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
        """Return the numbers of the edge values that this operator's entries read."""
        return torch.from_numpy(np.unique(self._entries.value)).to(self._device)

    def edge_features(self) -> Tensor | None:
        """Return the features [nnz, D] of every entry's edge in CSR order, zeros for self-loops; None without any."""
        if self._graph.edge_features is None:
            return None
        order, edges = self.structure.order.cpu().numpy(), self._entries.edge
        rows = np.zeros((order.size, self._graph.edge_features.shape[1]), dtype=np.float32)
        rows[order < edges.size] = self._graph.edge_features[edges[order[order < edges.size]]]
        return torch.from_numpy(rows).to(self._device, self._dtype)

    @cached_property
    def _value_index(self) -> Tensor:
        """Number of each entry's value; values are laid out as [edge values, 1], and self-loops read the trailing 1."""
        index = np.concatenate([self._entries.value, np.full(self.num_nodes, self.num_values)])
        return torch.from_numpy(index).to(self._device, self.structure.order.dtype)[self.structure.order]

    @cached_property
    def _full_degrees(self) -> Tensor:
        """Degrees of the unpruned graph, self-loops counted."""
        degrees = np.bincount(self._graph.edges.ravel(), minlength=self._graph.num_nodes)[self.nodes] + 1
        return torch.from_numpy(degrees).to(self._device, self._dtype)

    def entry_values(self, edge_values: Tensor | None, loops: Tensor | None = None) -> Tensor:
        """Return the [nnz] values in CSR order, differentiable; `loops` [1] is that of self-loops, by default 1."""
        if edge_values is None and loops is None:
            return torch.ones(self.structure.nnz, dtype=self._dtype, device=self._device)
        if edge_values is None:
            edge_values = torch.ones(self.num_values, dtype=self._dtype, device=self._device)
        last = edge_values.new_ones(1) if loops is None else loops
        return torch.cat([edge_values, last]).index_select(0, self._value_index)

    def no_loops(self) -> Tensor:
        """Return the value [1] of self-loops that carry nothing."""
        return torch.zeros(1, dtype=self._dtype, device=self._device)

    def summed(self, edge_values: Tensor | None, loops: Tensor) -> Adjacency:
        """Return the plain sum over sources, self-loops with the value `loops` [1] (GIN, Xu et al. 2019, eq. 4.1)."""
        return self._adjacency(self.entry_values(edge_values, loops))

    def averaged(self, edge_values: Tensor | None, loops: Tensor, degree: MeanDegree) -> Adjacency:
        """Return the mean over sources plus `loops` [1] times the node itself.

        The mean divides by the sum of the surviving entries' |values|, or by the unpruned graph's degree.
        """
        edges = self.entry_values(edge_values, loops.new_zeros(1))
        counts = self._received(edges.abs()) if degree == "surviving" else (self._full_degrees - 1).clamp(min=1)
        own = (self._value_index == self.num_values) * loops
        return self._adjacency(edges / counts.index_select(0, self.structure.row) + own)

    def _received(self, values: Tensor) -> Tensor:
        sums = values.new_zeros(self.num_nodes).index_add(0, self.structure.row, values)
        return sums.clamp(min=SMALLEST_DEGREE)

    def normalised(self, edge_values: Tensor | None, degree: DegreeKind) -> Adjacency:
        """Return D^-1/2 (m * A + I) D^-1/2 (paper, section 3.1, with the misprinted exponent put right).

        `degree` names whose entries D counts: those a node sends ("source"), receives ("target"), sends at the
        source end and receives at the target end ("both"), or the unpruned graph's ("fixed").
        """
        values = self.entry_values(edge_values)
        at_source, at_target = self._inverse_roots(values, degree)
        structure = self.structure
        return self._adjacency(
            values * at_source.index_select(0, structure.col) * at_target.index_select(0, structure.row)
        )

    def _adjacency(self, values: Tensor) -> Adjacency:
        return Adjacency(self.structure, values, self._layers)

    def _inverse_roots(self, values: Tensor, degree: DegreeKind) -> tuple[Tensor, Tensor]:
        """Return D^-1/2 at source ends and at target ends."""
        if degree == "fixed":
            root = self._full_degrees.rsqrt()
            return root, root
        if degree == "both":
            return self._root_of_sums(values, self.structure.col), self._root_of_sums(values, self.structure.row)
        root = self._root_of_sums(values, self.structure.col if degree == "source" else self.structure.row)
        return root, root

    def _root_of_sums(self, values: Tensor, ends: Tensor) -> Tensor:
        sums = values.new_zeros(self.num_nodes).index_add(0, ends, values)
        return sums.clamp(min=SMALLEST_DEGREE).rsqrt()
