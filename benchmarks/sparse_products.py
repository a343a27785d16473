"""A sparse matrix times dense columns, by every implementation at hand: the fastest one is the floor."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn import functional

TRIES = 5
# Of a wide gradient so many rows, or so many columns, stay in the cache.
ROWS_OF_A_BLOCK, COLUMNS_OF_A_BLOCK = 512, 64

Product = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Pattern:
    """A matrix [rows, columns] in compressed rows: pointers [rows + 1], column numbers [nnz], values [nnz]."""

    pointers: Tensor
    columns: Tensor
    values: Tensor
    shape: tuple[int, int]


def pattern_of(matrix: csr_array) -> Pattern:
    """Return a matrix of scipy's as 32-bit tensors."""
    parts = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)
    pointers, columns, values = (torch.from_numpy(part) for part in parts)
    return Pattern(pointers, columns, values, (int(matrix.shape[0]), int(matrix.shape[1])))


def by_bags(pattern: Pattern) -> Product:
    """Each row is a bag of rows that are summed with weights: torch's embedding_bag, which compiles for the width."""
    options = {"mode": "sum", "per_sample_weights": pattern.values, "include_last_offset": True}
    return lambda dense: functional.embedding_bag(pattern.columns, dense, pattern.pointers, **options)


def by_mkl(pattern: Pattern) -> Product:
    """The addmm of a CSR tensor, which torch hands to MKL."""
    matrix = _tensor(pattern)
    return lambda dense: _into(dense.new_empty(pattern.shape[0], dense.shape[1]), matrix, dense)


def by_reduction(pattern: Pattern) -> Product:
    """The sparse.mm of torch with a reduction, a kernel of its own."""
    matrix = _tensor(pattern)
    return lambda dense: torch.sparse.mm(matrix, dense, reduce="sum")


def by_scipy(pattern: Pattern) -> Product:
    """The product of scipy, of CSR and dense arrays."""
    parts = pattern.values.numpy(), pattern.columns.numpy(), pattern.pointers.numpy()
    matrix = csr_array(parts, shape=pattern.shape)
    return lambda dense: torch.from_numpy(matrix @ dense.numpy())


def by_blocks_of_rows(pattern: Pattern) -> Product:
    """MKL's product, summed over blocks of rows of the dense factor that stay in the cache."""
    blocks = [_tensor(block) for block in _blocks(pattern)]

    def times(dense: Tensor) -> Tensor:
        result = dense.new_empty(pattern.shape[0], dense.shape[1])
        for number, (block, part) in enumerate(zip(blocks, dense.split(ROWS_OF_A_BLOCK), strict=True)):
            torch.addmm(result, block, part, beta=min(number, 1), out=result)
        return result

    return times


def by_bags_of_rows(pattern: Pattern) -> Product:
    """embedding_bag, summed over blocks of rows of the dense factor that stay in the cache."""
    blocks = [by_bags(block) for block in _blocks(pattern)]

    def times(dense: Tensor) -> Tensor:
        parts = zip(blocks, dense.split(ROWS_OF_A_BLOCK), strict=True)
        return functools.reduce(Tensor.add_, (bags(part) for bags, part in parts))

    return times


def by_bags_of_columns(pattern: Pattern) -> Product:
    """embedding_bag on a few columns of the dense factor at a time, which stay in the cache."""
    bags = by_bags(pattern)

    def times(dense: Tensor) -> Tensor:
        return torch.cat([bags(part.contiguous()) for part in dense.split(COLUMNS_OF_A_BLOCK, dim=1)], dim=1)

    return times


IMPLEMENTATIONS: Mapping[str, Callable[[Pattern], Product]] = {
    "embedding_bag": by_bags,
    "embedding_bag, columns in blocks": by_bags_of_columns,
    "embedding_bag, rows in blocks": by_bags_of_rows,
    "MKL": by_mkl,
    "MKL, rows in blocks": by_blocks_of_rows,
    "sparse.mm with reduction": by_reduction,
    "scipy": by_scipy,
}


# These are made for a matrix whose values never change.
PREPARED = ("embedding_bag, rows in blocks", "MKL, rows in blocks")


def fastest(pattern: Pattern, dense: Tensor, names: Sequence[str] = tuple(IMPLEMENTATIONS)) -> str:
    """Return the name of the implementation that took the least CPU time of a few tries in turns."""
    products = {name: IMPLEMENTATIONS[name](pattern) for name in names}
    seconds = dict.fromkeys(names, float("inf"))
    for _ in range(TRIES):
        for name, times in products.items():
            seconds[name] = min(seconds[name], _seconds(times, dense))
    return min(seconds, key=lambda name: seconds[name])


def _blocks(pattern: Pattern) -> list[Pattern]:
    parts = pattern.values.numpy(), pattern.columns.numpy(), pattern.pointers.numpy()
    columns = csr_array(parts, shape=pattern.shape).tocsc()
    starts = range(0, pattern.shape[1], ROWS_OF_A_BLOCK)
    return [pattern_of(columns[:, start : start + ROWS_OF_A_BLOCK].tocsr()) for start in starts]


def _seconds(times: Product, dense: Tensor) -> float:
    started = time.process_time()
    times(dense)
    return time.process_time() - started


def _tensor(pattern: Pattern) -> Tensor:
    parts = pattern.pointers, pattern.columns, pattern.values
    return torch.sparse_csr_tensor(*parts, size=pattern.shape, check_invariants=False)


def _into(result: Tensor, matrix: Tensor, dense: Tensor) -> Tensor:
    return torch.addmm(result, matrix, dense, beta=0, out=result)
