"""GraphOperator: the surviving entries of a graph with their current values; hides CSR, self-loops and device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from glt.config import Activation, DegreeKind
from glt.data.graph import Graph, IntArray
from glt.masks import EdgeMask
from glt.sparse.dropout import Dropout
from glt.sparse.hidden import hidden_linear
from glt.sparse.structure import Structure, propagate

MeanDegree = Literal["surviving", "original"]
# A soft mask may dip below zero, and so may a degree made of it; the square root needs a positive number.
SMALLEST_DEGREE = 1e-6


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A weighted adjacency with self-loops, ready to pass messages: [nnz] values in the structure's order."""

    structure: Structure
    values: Tensor

    def propagate(self, dense: Tensor) -> Tensor:
        """Return, for every node, the weighted sum of its sources' rows of `dense` [N, width]."""
        return propagate(self.structure, self.values, dense)

    def convolve(self, hidden: Tensor, weight: Tensor, dropout: Dropout, activation: Activation = "relu") -> Tensor:
        """Return the propagated dropout(activation(hidden [N, H])) @ weight [H, C]; `hidden` is overwritten."""
        return self.propagate(hidden_linear(hidden, weight, dropout, activation))


class GraphOperator:
    """Surviving entries (pruned ones are absent, not zero) plus one self-loop a node that is never pruned.

    Entry (i, j) carries the message from i to j. `edge_values` holds one value for every surviving entry of the
    mask, in mask order; both directions of an undirected mask's edge share it. Without values, all are 1.
    """

    def __init__(self, graph: Graph, mask: EdgeMask, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        source, target, value_index = _surviving_entries(graph, mask)
        loops = np.arange(graph.num_nodes)
        rows, cols = np.concatenate([target, loops]), np.concatenate([source, loops])
        self.num_nodes = graph.num_nodes
        self.structure = Structure.from_entries(rows, cols, (graph.num_nodes, graph.num_nodes), device)
        self.num_values = mask.kept
        self._dtype = dtype
        # Values are laid out as [edge values, 1]: every self-loop reads the trailing 1.
        index = np.concatenate([value_index, np.full(graph.num_nodes, self.num_values)])
        self._value_index = torch.from_numpy(index).to(device)[self.structure.order]
        degrees = np.bincount(graph.entries()[0], minlength=graph.num_nodes) + 1
        self._full_degrees = torch.from_numpy(degrees).to(device, dtype)

    def entry_values(self, edge_values: Tensor | None, loops: Tensor | None = None) -> Tensor:
        """Return the [nnz] values in CSR order, differentiable; `loops` [1] is that of self-loops, by default 1."""
        if edge_values is None and loops is None:
            return torch.ones(self.structure.nnz, dtype=self._dtype, device=self._value_index.device)
        if edge_values is None:
            edge_values = torch.ones(self.num_values, dtype=self._dtype, device=self._value_index.device)
        last = edge_values.new_ones(1) if loops is None else loops
        return torch.cat([edge_values, last])[self._value_index]

    def no_loops(self) -> Tensor:
        """Return the value [1] of self-loops that carry nothing."""
        return torch.zeros(1, dtype=self._dtype, device=self._value_index.device)

    def summed(self, edge_values: Tensor | None, loops: Tensor) -> Adjacency:
        """Return the plain sum over sources, self-loops with the value `loops` [1] (GIN, Xu et al. 2019, eq. 4.1)."""
        return Adjacency(self.structure, self.entry_values(edge_values, loops))

    def averaged(self, edge_values: Tensor | None, loops: Tensor, degree: MeanDegree) -> Adjacency:
        """Return the mean over sources plus `loops` [1] times the node itself.

        The mean divides by the sum of the surviving entries' |values|, or by the unpruned graph's degree.
        """
        edges = self.entry_values(edge_values, loops.new_zeros(1))
        counts = self._received(edges.abs()) if degree == "surviving" else (self._full_degrees - 1).clamp(min=1)
        own = (self._value_index == self.num_values) * loops
        return Adjacency(self.structure, edges / counts[self.structure.row] + own)

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
        weights = values * at_source[self.structure.col] * at_target[self.structure.row]
        return Adjacency(self.structure, weights)

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


def _surviving_entries(graph: Graph, mask: EdgeMask) -> tuple[IntArray, IntArray, IntArray]:
    """Return source, target and number of the value of every entry that passes messages."""
    survivors = np.flatnonzero(mask.keep)
    numbers = np.arange(survivors.size)
    if mask.kind == "directed":
        source, target = graph.entries()[:, survivors]
        return source, target, numbers
    low, high = graph.edges[:, survivors]
    return np.concatenate([low, high]), np.concatenate([high, low]), np.concatenate([numbers, numbers])
