"""Node features times weights, without ever making sparse features dense."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from glt.data.graph import Graph, IntArray
from glt.sparse.constant import ConstantMatrix
from glt.sparse.linear import linear


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


class Features:
    """The [N, F] feature matrix, sparse; `features_of` makes it of a graph.

    With `keep_product`, the last product is kept for shuffled passes of the same step and for `within`, at the price
    of its memory.
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
        """Return features @ weight [N, H]; `weight` [F, H] is dense, or sparse CSR where no gradient is needed."""
        if weight.layout is torch.sparse_csr:
            return (self.matrix @ weight).to_dense()
        result = self._constant.times(weight)
        if self._keeps_product:
            self._latest = weight, weight._version, result
        return result

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
        return Features(self._constant.rows(nodes), keep_product=True)

    def within(self, places: IntArray) -> Features:
        """Return some of these rows, for steps in which the product of all of them was just computed."""
        return _RowsWithin(self, self._constant.rows(places), torch.from_numpy(places).to(self.matrix.device))


class _RowsWithin(Features):
    """Rows of features of which all were multiplied by the same weight before; else their own product."""

    def __init__(self, whole: Features, rows: ConstantMatrix, places: Tensor) -> None:
        self._whole = whole
        self._rows = rows
        self._places = places

    def times(self, weight: Tensor) -> Tensor:
        """Return rows @ weight [n, H]."""
        known = self._whole.latest(weight)
        return self._rows.times(weight, None if known is None else (known, self._places))


class DenseFeatures(Features):
    """The [N, F] feature matrix of a graph whose features are dense."""

    def __init__(self, matrix: Tensor, keep_product: bool = False) -> None:
        self._matrix = matrix
        self._keeps_product = keep_product
        self._latest = None

    @property
    def matrix(self) -> Tensor:
        """The [N, F] dense tensor."""
        return self._matrix

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
        return Features(ConstantMatrix(row_normalised(graph.features), device, dtype), keep_product)
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
