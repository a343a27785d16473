"""The normalised adjacency of a GCN and its gradient, by hand: what an epoch has to do to every entry."""

from __future__ import annotations

import torch
from torch import Tensor

from benchmarks.sparse_products import Pattern
from glt.datasets.graph import Graph
from glt.masks import EdgeMask
from glt.sparse import GraphOperator
from glt.sparse.operator import SMALLEST_DEGREE


class BareEdges:
    """D^-1/2 (m * A + I) D^-1/2 with D the sums of what a node sends, of all entries of a graph and its self-loops."""

    def __init__(self, graph: Graph, mask: EdgeMask) -> None:
        self.structure = GraphOperator(graph, mask).structure
        entries = mask.kept
        # Self-loops read a 1 behind the mask's values.
        self._number = self.structure.order.clamp(max=entries)
        self._place = torch.argsort(self.structure.order.long())[:entries]
        self._one = torch.ones(1)
        self.values = torch.ones(self.structure.nnz)

    def normalise(self, mask: Tensor) -> None:
        """Compute `values` [nnz] of mask values [entries]."""
        structure = self.structure
        self._raw = torch.cat([mask, self._one])[self._number]
        self._sums = self._raw.new_zeros(structure.shape[0]).index_add_(0, structure.col, self._raw)
        self._root = self._sums.clamp(min=SMALLEST_DEGREE).rsqrt_()
        self._at_source, self._at_target = self._root[structure.col], self._root[structure.row]
        self.values = self._raw * self._at_source * self._at_target
        self.of_transpose = self.values[structure.transpose_order]

    def gradient(self, to_values: Tensor) -> Tensor:
        """Return the gradient of mask values [entries] from that of `values` [nnz]."""
        structure = self.structure
        down = to_values * self._raw
        to_root = self._root.new_zeros(self._root.shape)
        to_root.index_add_(0, structure.col, down * self._at_target).index_add_(
            0, structure.row, down * self._at_source
        )
        to_sums = to_root.mul_(self._root.pow(3)).mul_(-0.5).mul_(self._sums > SMALLEST_DEGREE)
        to_raw = to_values * self._at_source * self._at_target + to_sums[structure.col]
        return to_raw[self._place]

    def pattern(self) -> Pattern:
        """Return the matrix with its present values."""
        return Pattern(self.structure.crow, self.structure.col, self.values, self.structure.shape)

    def transposed(self) -> Pattern:
        """Return its transpose."""
        structure = self.structure
        parts = structure.transpose_crow, structure.transpose_col, self.of_transpose
        return Pattern(*parts, structure.shape[::-1])
