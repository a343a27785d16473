"""Products with gradients: sparse times dense (`propagate`), thin ones (`linear`), pairs of rows.

A `Structure` is a CSR pattern with its transpose. Values are kept apart from it, so edge values have gradients, and
nothing of size rows x columns is made.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

# CSR tensors are built at every step from checked structures; both notices would repeat in each process.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
warnings.filterwarnings("ignore", message="Sparse invariant checks are implicitly disabled")

# With fewer columns MKL's kernel is as fast.
NARROWEST_BAG = 16


@dataclass(frozen=True, eq=False)
class Structure:
    """The CSR pattern of a sparse matrix: rows are targets, columns sources.

    `row` and `col` are [nnz] in CSR order; `order` maps a CSR position to the entry it was built from;
    `transpose_order` maps a position of the transpose's CSR to one here. All are 32-bit where numbers fit.
    """

    shape: tuple[int, int]
    row: Tensor
    col: Tensor
    crow: Tensor
    order: Tensor
    transpose_crow: Tensor
    transpose_col: Tensor
    transpose_order: Tensor

    @classmethod
    def from_entries(
        cls, rows: NDArray[np.int64], cols: NDArray[np.int64], shape: tuple[int, int], device: str = "cpu"
    ) -> Structure:
        """Build the structure of entries (rows[k], cols[k]), numbered in `order`."""
        order = np.lexsort((cols, rows))
        row, col = rows[order], cols[order]
        transpose_order = np.lexsort((row, col))
        arrays = {
            "row": row,
            "col": col,
            "crow": _pointers(row, shape[0]),
            "order": order,
            "transpose_crow": _pointers(col, shape[1]),
            "transpose_col": row[transpose_order],
            "transpose_order": transpose_order,
        }
        narrow = index_type(max(*shape, rows.size))
        return cls(shape, **{name: torch.from_numpy(array.astype(narrow)).to(device) for name, array in arrays.items()})

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self.row.numel()

    def matrix(self, values: Tensor) -> Tensor:
        """Return the sparse CSR tensor with [nnz] values in CSR order."""
        return torch.sparse_csr_tensor(self.crow, self.col, values, size=self.shape, check_invariants=False)

    def transposed(self, values: Tensor) -> Tensor:
        """Return the transpose as a sparse CSR tensor; values in this structure's order."""
        return torch.sparse_csr_tensor(
            self.transpose_crow,
            self.transpose_col,
            values.index_select(0, self.transpose_order),
            size=self.shape[::-1],
            check_invariants=False,
        )


def product(matrix: Tensor, dense: Tensor, into: Tensor | None = None) -> Tensor:
    """Return a sparse CSR matrix times dense columns, without gradient.

    The result is written `into` a tensor, possibly a slice of columns, if there is one. For wide rows the kernel of
    embedding bags takes half the time of MKL's CSR product, a third on ogbn-arxiv. For narrow ones `addmm` with
    beta = 0 skips the zero fill and copy of `matrix @ dense`, a third of its time.
    """
    if dense.shape[1] >= NARROWEST_BAG and dense.dtype is torch.float32 and dense.device.type == "cpu":
        # A row of the matrix is a bag of rows of `dense`, weighted by its values.
        indices, offsets, values = matrix.col_indices(), matrix.crow_indices(), matrix.values()
        sums = functional.embedding_bag(
            indices, dense, offsets, mode="sum", per_sample_weights=values, include_last_offset=True
        )
        return sums if into is None else into.copy_(sums)
    result = dense.new_empty(matrix.shape[0], dense.shape[1]) if into is None else into
    return torch.addmm(result, matrix, dense, beta=0, out=result)


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, structure: Structure) -> Tensor:
        # Hidden rows are wide, and only gradients of values need them.
        ctx.save_for_backward(values, dense if ctx.needs_input_grad[0] else None)
        ctx.structure = structure
        return product(structure.matrix(values), dense)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        values, dense = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        structure: Structure = ctx.structure
        to_values = to_dense = None
        if ctx.needs_input_grad[0]:
            pattern = structure.matrix(torch.zeros_like(values))
            to_values = torch.sparse.sampled_addmm(pattern, gradient, dense.t(), beta=0.0).values()
        if ctx.needs_input_grad[1]:
            to_dense = product(structure.transposed(values), gradient)
        return to_values, to_dense, None


def propagate(structure: Structure, values: Tensor, dense: Tensor) -> Tensor:
    """Return the sparse matrix of `values` [nnz] times `dense` [columns, width].

    The gradient of a value is the inner product of the two rows it joins.
    """
    result: Tensor = _Propagate.apply(values, dense, structure)  # type: ignore[no-untyped-call]
    return result


def propagate_heads(structure: Structure, values: Tensor, dense: Tensor) -> Tensor:
    """Return each head's sparse product, heads side by side.

    `values` is [nnz, heads], `dense` [columns, heads * width].
    """
    result: Tensor = _PropagateHeads.apply(values, dense, structure)  # type: ignore[no-untyped-call]
    return result


class _PropagateHeads(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, structure: Structure) -> Tensor:
        by_head = values.t().contiguous()
        ctx.save_for_backward(by_head, dense)
        ctx.structure = structure
        result = dense.new_empty(structure.shape[0], dense.shape[1])
        heads = by_head.shape[0]
        for value, source, target in zip(by_head, dense.chunk(heads, 1), result.chunk(heads, 1), strict=True):
            product(structure.matrix(value), source, into=target)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        by_head, dense = ctx.saved_tensors
        structure: Structure = ctx.structure
        gradient = gradients[0].contiguous()
        to_values, to_dense = torch.empty_like(by_head), torch.empty_like(dense)
        pattern = structure.matrix(torch.zeros_like(by_head[0]))
        columns = zip(*(rows.chunk(by_head.shape[0], 1) for rows in (gradient, dense, to_dense)), strict=True)
        for head, (down, source, target) in enumerate(columns):
            sampled = torch.sparse.sampled_addmm(pattern, down.contiguous(), source.contiguous().t(), beta=0.0)
            to_values[head] = sampled.values()
            product(structure.transposed(by_head[head]), down, into=target)
        return to_values.t(), to_dense, None


def index_type(largest: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest index type that holds `largest`; MKL takes 32-bit indices."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def _pointers(sorted_rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_rows, minlength=count))]).astype(np.int64)


class _Linear(torch.autograd.Function):
    """Two to eight times as fast as `dense @ weight` for 7 columns."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(dense, weight)
        return functional.linear(dense, weight.t().contiguous())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        dense, weight = ctx.saved_tensors
        gradient = gradients[0]
        to_dense = gradient @ weight.t() if ctx.needs_input_grad[0] else None
        to_weight = (gradient.t() @ dense).t() if ctx.needs_input_grad[1] else None
        return to_dense, to_weight


def linear(dense: Tensor, weight: Tensor) -> Tensor:
    """Return dense [N, H] @ weight [H, C].

    A sparse CSR weight works without gradient.
    """
    if weight.layout is torch.sparse_csr:
        return dense @ weight
    result: Tensor = _Linear.apply(dense, weight)  # type: ignore[no-untyped-call]
    return result


def as_dense(weight: Tensor) -> Tensor:
    """Return a weight, zeros written out if it is sparse CSR."""
    return weight.to_dense() if weight.layout is torch.sparse_csr else weight


class _InnerProducts(torch.autograd.Function):
    """Adds gradients by a sparse product: gathered rows add them in the threads' order."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, pairs: Tensor) -> Tensor:
        ctx.save_for_backward(rows, pairs)
        return (rows[pairs[0]] * rows[pairs[1]]).sum(dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        rows, pairs = ctx.saved_tensors
        ends = torch.cat([pairs, pairs.flip(0)], dim=1).cpu().numpy()
        count = rows.shape[0]
        structure = Structure.from_entries(ends[0], ends[1], (count, count), str(rows.device))
        values = gradients[0].repeat(2)[structure.order]
        return product(structure.matrix(values), rows.contiguous()), None


def inner_products(rows: Tensor, pairs: Tensor) -> Tensor:
    """Return the inner products [n] of the rows [N, d] in `pairs` [2, n]."""
    result: Tensor = _InnerProducts.apply(rows, pairs)  # type: ignore[no-untyped-call]
    return result


def row_products(rows: Tensor, pairs: Tensor) -> Tensor:
    """Return elementwise products [n, d] of the rows in `pairs` [2, n].

    On a CPU `index_select` adds a row's gradients in the order of the pairs; `rows[...]` does not.
    """
    return rows.index_select(0, pairs[0]) * rows.index_select(0, pairs[1])
