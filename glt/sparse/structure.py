"""CSR structure with its transpose, and the product with dense columns that is differentiable in both factors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

# Building CSR tensors from checked structures happens every step; both notices would repeat for each process.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
warnings.filterwarnings("ignore", message="Sparse invariant checks are implicitly disabled")

# Below so many columns MKL's kernel is as fast.
NARROWEST_BAG = 16


@dataclass(frozen=True, eq=False)
class Structure:
    """The pattern of a sparse matrix, rows = targets and columns = sources, without values.

    `row` and `col` are [nnz] in CSR order; `order` maps a CSR position to the entry it was built from;
    `transpose_order` maps a position of the transpose's CSR to a position here. All are 32-bit where numbers fit.
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
        """Build the structure of entries (rows[k], cols[k]); entries keep their number in `order`."""
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
        """Return the sparse CSR tensor with these [nnz] values in CSR order."""
        return torch.sparse_csr_tensor(self.crow, self.col, values, size=self.shape, check_invariants=False)

    def transposed(self, values: Tensor) -> Tensor:
        """Return the transpose as a sparse CSR tensor, for values in this structure's CSR order."""
        return torch.sparse_csr_tensor(
            self.transpose_crow,
            self.transpose_col,
            values.index_select(0, self.transpose_order),
            size=self.shape[::-1],
            check_invariants=False,
        )


def product(matrix: Tensor, dense: Tensor) -> Tensor:
    """Return a sparse CSR matrix times dense columns, without a gradient.

    Where rows are wide, the kernel for bags of embeddings takes half the time of MKL's for CSR matrices, and a third on
    ogbn-arxiv. Elsewhere `matrix @ dense` first fills one array with zeros and copies it into another, a third of the
    whole time; with a factor of 0 for what the output holds, nothing need be written before the sums.
    """
    if _are_bags_faster(dense):
        return _sum_of_bags(matrix, dense)
    return _product_of_csr(dense.new_empty(matrix.shape[0], dense.shape[1]), matrix, dense)


def product_into(result: Tensor, matrix: Tensor, dense: Tensor) -> Tensor:
    """Write a sparse CSR matrix times dense columns into `result`, which may be columns of a wider tensor."""
    if _are_bags_faster(dense):
        return result.copy_(_sum_of_bags(matrix, dense))
    return _product_of_csr(result, matrix, dense)


def _are_bags_faster(dense: Tensor) -> bool:
    return dense.shape[1] >= NARROWEST_BAG and dense.dtype is torch.float32 and dense.device.type == "cpu"


def _product_of_csr(result: Tensor, matrix: Tensor, dense: Tensor) -> Tensor:
    return torch.addmm(result, matrix, dense, beta=0, out=result)


def _sum_of_bags(matrix: Tensor, dense: Tensor) -> Tensor:
    """A row of the matrix is a bag of rows of `dense`, its values their weights."""
    return embedding_bag(
        matrix.col_indices(),
        dense,
        matrix.crow_indices(),
        mode="sum",
        per_sample_weights=matrix.values(),
        include_last_offset=True,
    )


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, structure: Structure) -> Tensor:
        # Hidden rows are wide, and only the gradient of a value needs them.
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
    """Return the product of the sparse matrix (`structure`, [nnz] `values`) with `dense` [columns, width].

    The gradient of a value is the dot product of the two rows it joins, so nothing of size rows x columns is made.
    """
    result: Tensor = _Propagate.apply(values, dense, structure)  # type: ignore[no-untyped-call]
    return result


def index_type(largest: int) -> type[np.signedinteger[Any]]:
    """Return the narrower integers that count to `largest`: half the memory to read, and what MKL takes anyway."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def _pointers(sorted_rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_rows, minlength=count))]).astype(np.int64)
