"""Node features times weights, without ever making sparse features dense."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from glt.data.graph import Graph, IntArray
from glt.sparse.linear import linear
from glt.sparse.structure import Structure, product

# The product with a gradient reads the gradient's rows in random order; more numbers than this leave a usual cache.
NUMBERS_IN_CACHE = 2**21
ROWS_OF_A_BLOCK = 512


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


class _Transposed:
    """X^T, whole and cut into blocks of nodes whose rows of a wide gradient stay in the cache.

    The sum over blocks takes an eighth of the time on PubMed and a quarter for eight heads of 512 on Cora.
    """

    def __init__(self, matrix: csr_array, whole: Tensor) -> None:
        self._matrix = matrix
        self._whole = whole

    @cached_property
    def _blocks(self) -> list[Tensor]:
        height = ROWS_OF_A_BLOCK if self._whole.device.type == "cpu" else self._matrix.shape[0]
        parts = [self._matrix[start : start + height] for start in range(0, self._matrix.shape[0], height)]
        built = [_on_device(part, str(self._whole.device), self._whole.dtype) for part in parts]
        return [structure.transposed(values) for structure, values in built]

    def times(self, dense: Tensor) -> Tensor:
        """Return the product with a gradient [N, H]."""
        if dense.numel() <= NUMBERS_IN_CACHE:
            return product(self._whole, dense)
        result = dense.new_empty(self._whole.shape[0], dense.shape[1])
        rows = torch.split(dense, self._blocks[0].shape[1])
        for number, (block, part) in enumerate(zip(self._blocks, rows, strict=True)):
            torch.addmm(result, block, part, beta=min(number, 1), out=result)
        return result


class _RowsTimes(torch.autograd.Function):
    """Rows of a product that is known already; the gradient comes back through the features of these rows alone."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, known: Tensor, places: Tensor, transposed: _Transposed) -> Tensor:
        ctx.transposed = transposed
        return known.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.transposed.times(gradients[0].contiguous()), None, None, None


class _ConstantTimes(torch.autograd.Function):
    """The features never change, so both layouts of the matrix are built once and only the weight has a gradient."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, matrix: Tensor, transposed: _Transposed) -> Tensor:
        ctx.transposed = transposed
        return product(matrix, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transposed.times(gradients[0].contiguous()), None, None


def _on_device(matrix: csr_array, device: str, dtype: torch.dtype) -> tuple[Structure, Tensor]:
    """Return the structure of a matrix and its values in that order."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    shape = (int(matrix.shape[0]), int(matrix.shape[1]))
    structure = Structure.from_entries(rows.astype(np.int64), matrix.indices.astype(np.int64), shape, device)
    return structure, torch.from_numpy(matrix.data).to(device, dtype)[structure.order]


class Features:
    """The [N, F] feature matrix, sparse; `features_of` makes it of a graph.

    With `keep_product`, the last product is kept for shuffled passes of the same step and for `within`, at the price
    of its memory.
    """

    def __init__(
        self,
        matrix: csr_array,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
        keep_product: bool = False,
    ) -> None:
        structure, values = _on_device(matrix, device, dtype)
        self._csr = matrix
        self._matrix = structure.matrix(values)
        self._transposed = _Transposed(matrix, structure.transposed(values))
        self._keeps_product = keep_product
        self._latest: tuple[Tensor, int, Tensor] | None = None

    @property
    def matrix(self) -> Tensor:
        """The [N, F] sparse CSR tensor."""
        return self._matrix

    def times(self, weight: Tensor) -> Tensor:
        """Return features @ weight [N, H]; `weight` [F, H] is dense, or sparse CSR where no gradient is needed."""
        if weight.layout is torch.sparse_csr:
            return (self._matrix @ weight).to_dense()
        result: Tensor = _ConstantTimes.apply(weight, self._matrix, self._transposed)  # type: ignore[no-untyped-call]
        if self._keeps_product:
            self._latest = weight, weight._version, result
        return result

    def known(self, weight: Tensor, product: Tensor, places: Tensor) -> Tensor:
        """Return features @ weight when they are the rows at `places` of a product, with the gradient all the same."""
        known: Tensor = _RowsTimes.apply(weight, product, places, self._transposed)  # type: ignore[no-untyped-call]
        return known

    def latest(self, weight: Tensor) -> Tensor | None:
        """Return the last product if it was that of `weight` and no step has changed it since."""
        if self._latest is None or self._latest[0] is not weight or self._latest[1] != weight._version:
            return None
        return self._latest[2]

    def shuffled(self, order: Tensor) -> Features:
        """Return the same rows in another order: node i has those of node order[i]."""
        return ShuffledFeatures(self, order)

    def of_nodes(self, nodes: Tensor) -> Features:
        """Return the rows of some nodes."""
        return self.shuffled(nodes)

    def cut(self, nodes: IntArray) -> Features:
        """Return the rows of some nodes as a matrix of their own that keeps its last product."""
        return Features(self._csr[nodes], str(self._matrix.device), self._matrix.dtype, keep_product=True)

    def within(self, places: IntArray) -> Features:
        """Return some of these rows, for steps in which the product of all of them was just computed."""
        return _RowsWithin(self, self.cut(places), torch.from_numpy(places).to(self._matrix.device))


class _RowsWithin(Features):
    """Rows of features of which all were multiplied by the same weight before; else their own product."""

    def __init__(self, whole: Features, rows: Features, places: Tensor) -> None:
        self._whole = whole
        self._rows = rows
        self._places = places

    def times(self, weight: Tensor) -> Tensor:
        """Return rows @ weight [n, H]."""
        known = self._whole.latest(weight)
        return self._rows.times(weight) if known is None else self._rows.known(weight, known, self._places)


class DenseFeatures(Features):
    """The [N, F] feature matrix of a graph whose features are dense."""

    def __init__(self, matrix: Tensor, keep_product: bool = False) -> None:
        self._matrix = matrix
        self._keeps_product = keep_product
        self._latest = None

    def times(self, weight: Tensor) -> Tensor:
        """Return features @ weight [N, H], as sparse features do."""
        result = linear(self._matrix, weight)
        if self._keeps_product:
            self._latest = weight, weight._version, result
        return result

    def of_nodes(self, nodes: Tensor) -> Features:
        """Return the rows of some nodes, so that the others are not computed."""
        return DenseFeatures(self._matrix[nodes])

    def cut(self, nodes: IntArray) -> Features:
        """Return the rows of some nodes, copied."""
        return self.of_nodes(torch.from_numpy(nodes).to(self._matrix.device))

    def within(self, places: IntArray) -> Features:
        """Return some of these rows, copied."""
        return self.cut(places)


def features_of(
    graph: Graph, device: str = "cpu", dtype: torch.dtype = torch.float32, keep_product: bool = False
) -> Features:
    """Return a graph's features as networks see them: sparse rows divided by their sums, dense ones as they are."""
    if isinstance(graph.features, csr_array):
        return Features(row_normalised(graph.features), device, dtype, keep_product)
    # A file that is mapped is read-only; torch wants memory it could write to.
    dense = torch.from_numpy(np.array(graph.features)).to(device, dtype)
    return DenseFeatures(dense, keep_product)


class ShuffledFeatures(Features):
    """Features whose rows are in another order; the matrix itself is shared, and so is its last product."""

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
