"""Sparse matrices that never change, times dense columns: the features, of which a product has only one gradient."""

from __future__ import annotations

from functools import cached_property, reduce
from typing import Any

import torch
from scipy.sparse import csr_array
from torch import Tensor

from glt.data.graph import IntArray
from glt.sparse.structure import index_type, product

# The product with a gradient reads the gradient's rows in random order; more numbers than this leave a usual cache.
NUMBERS_IN_CACHE = 2**21
ROWS_OF_A_BLOCK = 512


class ConstantMatrix:
    """A sparse [N, F] matrix on a device; each layout is built when it is first asked for.

    The transpose is there whole and cut into blocks of rows whose part of a wide gradient stays in the cache: the sum
    over blocks takes an eighth of the time on PubMed and a quarter for eight heads of 512 on Cora.
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
        """Return some of the rows, as a matrix of their own."""
        return ConstantMatrix(self._matrix[places], self._device, self._dtype)

    def times(self, weight: Tensor, known: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """Return the product with `weight` [F, H], differentiable in it; `known` says of which product it is rows."""
        result: Tensor = _Times.apply(weight, self, known)  # type: ignore[no-untyped-call]
        return result

    def product(self, dense: Tensor) -> Tensor:
        """Return the product with `dense` [F, H], without a gradient."""
        return product(self.tensor, dense)

    def transposed_product(self, dense: Tensor) -> Tensor:
        """Return the transpose's product with `dense` [N, H], without a gradient."""
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
    """The matrix never changes, so only the weight has a gradient."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, matrix: ConstantMatrix, known: tuple[Tensor, Tensor] | None) -> Tensor:
        ctx.matrix = matrix
        return matrix.product(weight) if known is None else known[0].index_select(0, known[1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.matrix.transposed_product(gradients[0].contiguous()), None, None
