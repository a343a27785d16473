"""Node features times weights, without writing out sparse features; start at `features_of`."""

from __future__ import annotations

from functools import cached_property, reduce
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from glt.datasets.graph import Graph, IntArray
from glt.sparse.spmm import index_type, linear, product

# The product with a gradient reads the gradient's rows in random order; more numbers than this leave a usual cache.
NUMBERS_IN_CACHE = 2**21
ROWS_OF_A_BLOCK = 512


def features_of(
    graph: Graph, device: str = "cpu", dtype: torch.dtype = torch.float32, keep_product: bool = False
) -> Features:
    """Return a graph's features as networks see them: sparse rows normalised, dense ones unchanged."""
    if isinstance(graph.features, csr_array):
        return Features(ConstantMatrix(row_normalised(graph.features), device, dtype), keep_product)
    # A mapped file is read-only, and torch wants writable memory.
    dense = torch.from_numpy(np.array(graph.features)).to(device, dtype)
    return DenseFeatures(dense, keep_product)


def row_normalised(features: csr_array) -> csr_array:
    """Divide every row by its sum of magnitudes; all-zero rows stay zero.

    >>> row_normalised(csr_array(np.array([[1.0, 3.0], [0.0, 0.0]]))).toarray().tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = np.asarray(abs(features).sum(axis=1)).ravel()
    scale = np.divide(1, sums, out=np.zeros(sums.shape), where=sums > 0)
    rows = np.repeat(np.arange(sums.size), np.diff(features.indptr))
    data = (features.data * scale[rows]).astype(features.data.dtype)
    return csr_array((data, features.indices, features.indptr), shape=features.shape)


class ConstantMatrix:
    """A sparse [N, F] matrix that needs no gradient.

    Each layout is built on first use. For wide gradients the transpose is cut into blocks of rows whose part of the
    gradient stays in the cache: summing over blocks takes an eighth of the time on PubMed, and a quarter for eight
    heads of 512 on Cora.
    """

    def __init__(self, matrix: csr_array, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        self._matrix = matrix
        self._device = device
        self._dtype = dtype

    @cached_property
    def tensor(self) -> Tensor:
        """The [N, F] sparse CSR tensor."""
        return self._tensor(self._matrix)

    def rows(self, places: IntArray) -> ConstantMatrix:
        """Return some of the rows as a matrix of their own."""
        return ConstantMatrix(self._matrix[places], self._device, self._dtype)

    def times(self, weight: Tensor, known: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """Return the product with `weight` [F, H], differentiable in it.

        `known` is a product and the places of this one's rows in it, to be taken from there.
        """
        result: Tensor = _Times.apply(weight, self, known)  # type: ignore[no-untyped-call]
        return result

    def transposed_product(self, dense: Tensor) -> Tensor:
        """Return the transpose's product with `dense` [N, H], without gradient."""
        if dense.numel() <= NUMBERS_IN_CACHE:
            return product(self._transposed, dense)
        parts = zip(self._blocks, torch.split(dense, self._height), strict=True)
        return reduce(Tensor.add_, (product(block, part) for block, part in parts))

    @cached_property
    def _transposed(self) -> Tensor:
        return self._tensor(self._matrix.T.tocsr())

    @cached_property
    def _blocks(self) -> list[Tensor]:
        starts = range(0, self._matrix.shape[0], self._height)
        return [self._tensor(self._matrix[at : at + self._height].T.tocsr()) for at in starts]

    @property
    def _height(self) -> int:
        return ROWS_OF_A_BLOCK if self._device == "cpu" else int(self._matrix.shape[0])

    def _tensor(self, matrix: csr_array) -> Tensor:
        ordered = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
        narrow = index_type(max(*matrix.shape, matrix.nnz))
        crow, col = (torch.from_numpy(each.astype(narrow)) for each in (ordered.indptr, ordered.indices))
        values = torch.from_numpy(ordered.data).to(self._dtype)
        return torch.sparse_csr_tensor(crow, col, values, size=matrix.shape, check_invariants=False).to(self._device)


class _Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, matrix: ConstantMatrix, known: tuple[Tensor, Tensor] | None) -> Tensor:
        ctx.matrix = matrix
        return product(matrix.tensor, weight) if known is None else known[0].index_select(0, known[1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.matrix.transposed_product(gradients[0].contiguous()), None, None


class Features:
    """The sparse [N, F] feature matrix.

    With `keep_product` the last product is kept, for shuffled passes of the same step and for `within`.
    """

    def __init__(self, constant: ConstantMatrix, keep_product: bool = False) -> None:
        self._constant = constant
        self._keeps_product = keep_product
        self._latest: tuple[Tensor, int, Tensor] | None = None

    @property
    def matrix(self) -> Tensor:
        """The [N, F] sparse CSR tensor."""
        return self._constant.tensor

    def times(self, weight: Tensor) -> Tensor:
        """Return features @ weight [N, H].

        A sparse CSR `weight` [F, H] works without gradient.
        """
        if weight.layout is torch.sparse_csr:
            return (self.matrix @ weight).to_dense()
        return self._remembered(weight, self._constant.times(weight))

    def latest(self, weight: Tensor) -> Tensor | None:
        """Return the last product if it is that of `weight` as it is now."""
        if self._latest is None or self._latest[0] is not weight or self._latest[1] != weight._version:
            return None
        return self._latest[2]

    def _remembered(self, weight: Tensor, result: Tensor) -> Tensor:
        if self._keeps_product:
            self._latest = weight, weight._version, result
        return result

    def shuffled(self, order: Tensor) -> Features:
        """Return the same rows in another order: node i has those of node order[i]."""
        return ShuffledFeatures(self, order)

    def of_nodes(self, nodes: Tensor) -> Features:
        """Return the rows of some nodes."""
        return self.shuffled(nodes)

    def cut(self, nodes: IntArray) -> Features:
        """Return the rows of some nodes as a matrix that keeps its product."""
        return Features(self._constant.rows(nodes), keep_product=True)

    def within(self, places: IntArray) -> Features:
        """Return some of these rows, which reuse the product of all rows."""
        return _RowsWithin(self, self._constant.rows(places), torch.from_numpy(places).to(self.matrix.device))


class _RowsWithin(Features):
    """Takes its rows of the known product of all rows, else computes its own."""

    def __init__(self, whole: Features, rows: ConstantMatrix, places: Tensor) -> None:
        self._whole = whole
        self._rows = rows
        self._places = places

    def times(self, weight: Tensor) -> Tensor:
        known = self._whole.latest(weight)
        return self._rows.times(weight, None if known is None else (known, self._places))


class ShuffledFeatures(Features):
    """Features with rows in another order; the matrix and its last product are shared."""

    def __init__(self, features: Features, order: Tensor) -> None:
        self._features = features
        self._order = order

    def times(self, weight: Tensor) -> Tensor:
        """Return the reordered rows of features @ weight."""
        known = self._features.latest(weight)
        return (self._features.times(weight) if known is None else known)[self._order]

    def shuffled(self, order: Tensor) -> Features:
        """Return these rows in another order."""
        return ShuffledFeatures(self._features, self._order[order])


class DenseFeatures(Features):
    """The [N, F] feature matrix of a graph with dense features."""

    def __init__(self, matrix: Tensor, keep_product: bool = False) -> None:
        self._matrix = matrix
        self._keeps_product = keep_product
        self._latest = None

    @property
    def matrix(self) -> Tensor:
        """The [N, F] dense tensor."""
        return self._matrix

    def times(self, weight: Tensor) -> Tensor:
        """Return features @ weight [N, H]."""
        return self._remembered(weight, linear(self._matrix, weight))

    def of_nodes(self, nodes: Tensor) -> Features:
        """Return the rows of some nodes, copied."""
        return DenseFeatures(self._matrix[nodes])

    def cut(self, nodes: IntArray) -> Features:
        """Return the rows of some nodes, copied."""
        return self.of_nodes(torch.from_numpy(nodes).to(self._matrix.device))

    def within(self, places: IntArray) -> Features:
        """Return some of these rows, copied."""
        return self.cut(places)
