"""Validation of OGB's files: row counts, node ids, finite numbers, and a split without leaks.

Every table is read once, in chunks, and checked while reading; DataError names the invalid file.
"""

from __future__ import annotations

import re
import sys
import warnings
import zlib
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glt.datasets.graph import DenseArray, IntArray, LinkSplit, Split, simple_edges
from glt.datasets.ogb_io import OgbFiles, check_complete, check_rows, refusal, row_count, stated_counts
from glt.formats import count

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[Any]
# Share of negatives that may be edges of their part by chance.
BY_CHANCE = 0.05
# Numbers read at a time.
_HELD = 1 << 22


@dataclass(frozen=True)
class OgbFolder:
    """A complete folder of OGB's files, with its stated numbers of nodes and raw edges."""

    files: OgbFiles
    path: Path
    nodes: int
    edges: int

    @classmethod
    def checked(cls, files: OgbFiles, path: Path) -> OgbFolder:
        """Return the folder; raise DataError for a missing file or a wrong number of rows."""
        check_complete(files, path)
        check_rows(files, path)
        return cls(files, path, *stated_counts(files, path))

    def integers(self, name: str, columns: int, below: int | None = None) -> IntArray:
        """Return a table [rows, columns] of integers from 0 to below - 1."""
        path, rows = self._table(name)
        return _within(path, _read(path, rows, columns, whole=True), below)

    def numbers(self, name: str, columns: int) -> DenseArray:
        """Return a table [rows, columns] of finite numbers."""
        path, rows = self._table(name)
        return _read(path, rows, columns, whole=False)

    def raw_edges(self) -> IntArray:
        """Return the raw edges [2, R]."""
        return np.ascontiguousarray(self.integers("edge", 2, below=self.nodes).T)

    def simple_edges(self, pairs: IntArray) -> tuple[IntArray, int, int]:
        """Return simple edges, and counts of duplicates and self-loops; raise DataError without any edge."""
        return _simple(self.files.raw(self.path)["edge"], pairs, self.nodes)

    def node_split(self) -> Split:
        """Return the sorted parts; raise DataError for an empty part or a repeated node."""
        parts = {}
        paths = self.files.parts(self.path)
        for part, path in paths.items():
            rows = row_count(path, self.nodes)
            if rows > self.nodes:
                raise refusal(path, f"has more than {count(self.nodes)} rows, so it lists a node twice")
            listed = _within(path, _read(path, rows, 1, whole=True, blank=True), self.nodes)
            parts[part] = np.unique(listed)
            if parts[part].size != listed.size:
                raise refusal(path, "lists a node twice")
        for (one, nodes), (other, others) in combinations(parts.items(), 2):
            if shared := np.intersect1d(nodes, others).size:
                raise refusal(paths[other], f"shares {count(shared)} nodes with part {one}")
        return Split(*(parts[part] for part in ("train", "valid", "test")))

    def link_split(self) -> tuple[LinkSplit, tuple[int, int, int]]:
        """Return the parts, and raw rows, duplicates and self-loops of the training part.

        Training edges are made simple and sorted; scored pairs stay as in the files.
        """
        paths = self.files.parts(self.path)
        held = {part: _arrays(path) for part, path in paths.items()}
        listed = _pairs(paths["train"], held["train"], "edge", self.nodes)
        train, duplicates, loops = _simple(paths["train"], listed, self.nodes)
        scored = {
            (part, kind): _pairs(paths[part], held[part], kind, self.nodes)
            for kind in ("edge", "edge_neg")
            for part in ("valid", "test")
        }
        for part in ("valid", "test"):
            _check_negatives(paths[part], scored[part, "edge"], scored[part, "edge_neg"], self.nodes)
        return LinkSplit(train, *scored.values()), (listed.shape[1], duplicates, loops)

    def _table(self, name: str) -> tuple[Path, int]:
        return self.files.raw(self.path)[name], self.nodes if name.startswith("node") else self.edges


def _read(path: Path, rows: int, columns: int, whole: bool, blank: bool = False) -> Array:
    """Return a table [rows, columns] as int64 if `whole`, else float32; it may have `blank` rows."""
    import pandas as pd

    values = np.empty((rows, columns), np.int64 if whole else np.float32)
    filled = 0
    try:
        with pd.read_csv(path, compression="gzip", header=None, chunksize=max(1, _HELD // columns)) as pieces:
            for piece in pieces:
                values[filled : filled + len(piece)] = _checked(path, piece, columns, whole)
                filled += len(piece)
    except pd.errors.EmptyDataError:
        raise refusal(path, "is empty") from None
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        ragged = "row {1} has {2} columns, not {0}".format(*found.groups()) if found else "its rows are not numbers"
        raise refusal(path, f"cannot be read as a table ({ragged})") from error
    except (OSError, EOFError, zlib.error) as error:
        raise refusal(path, f"cannot be unpacked ({error})") from error
    except ValueError as error:
        raise refusal(path, "cannot be read as a table (it does not contain numbers)") from error
    if filled != rows and not blank:
        # pandas skips blank rows.
        raise refusal(path, f"has {count(filled)} non-blank rows, not {count(rows)}")
    return values[:filled]


def _checked(path: Path, piece: pd.DataFrame, columns: int, whole: bool) -> Array:
    if piece.shape[1] != columns:
        raise refusal(path, f"has {piece.shape[1]} columns, not {columns}")
    if not {kind.kind for kind in piece.dtypes} <= set("iuf"):
        raise refusal(path, "contains something other than numbers")
    values: Array = piece.to_numpy()
    if whole:
        # 2.0 is whole too; larger numbers do not fit into 64 bits.
        if values.dtype.kind != "i":
            whole_values = np.isfinite(values) & (np.trunc(values) == values) & (np.abs(values) < 2.0**63)
            if not whole_values.all():
                raise refusal(path, "contains a number that is not whole")
        return values.astype(np.int64)
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if not np.isfinite(single).all():
        raise refusal(path, "contains a number that is not finite")
    return single


def _within(path: Path, values: IntArray, below: int | None) -> IntArray:
    """Return the numbers; raise DataError unless all are from 0 to below - 1."""
    if below is not None and values.size and not (values.min() >= 0 and values.max() < below):
        wrong = values[(values < 0) | (values >= below)].flat[0]
        raise refusal(path, f"contains {wrong}; valid numbers are 0 to {count(below - 1)}")
    return values


def _simple(path: Path, pairs: IntArray, nodes: int) -> tuple[IntArray, int, int]:
    edges, duplicates, loops = simple_edges(pairs, nodes)
    if not edges.size:
        raise refusal(path, "contains only self-loops")
    return edges, duplicates, loops


def _arrays(path: Path) -> Any:
    """Return the content of a part of a link split; torch.load may create only numeric arrays."""
    import torch

    # NumPy moved this function; older files use the old name.
    rebuild = np.empty(0).__reduce__()[0]
    names = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
    # Needed by arrays without rows.
    nothing = [(_nothing, "__builtin__.bytes"), (_nothing, "builtins.bytes")]
    numbers = [type(np.dtype(kind)) for kind in ("int64", "int32", "float64", "float32")]
    allowed: list[Any] = [np.ndarray, np.dtype, *numbers, *((rebuild, name) for name in names), *nothing]
    with torch.serialization.safe_globals(allowed), warnings.catch_warnings():
        # Such a file is refused below.
        warnings.filterwarnings("ignore", "Detected pickle protocol", UserWarning)
        try:
            return torch.load(path)
        except MemoryError:
            raise
        # Any error is the file's fault; PyTorch's message would advise to trust the file.
        except Exception as error:
            raise refusal(path, "contains something other than arrays of numbers") from error


def _nothing() -> bytes:
    return b""


def _pairs(path: Path, held: Any, kind: str, nodes: int) -> IntArray:
    """Return the checked pairs [2, n] of a part."""
    if not isinstance(held, dict) or kind not in held:
        raise refusal(path, f"has no array {kind!r}")
    pairs = np.asarray(held[kind])
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not pairs.size or pairs.dtype.kind not in "iu":
        raise refusal(path, f"has no pairs of nodes in {kind!r}")
    return _within(path, np.ascontiguousarray(pairs.T).astype(np.int64), nodes)


def _check_negatives(path: Path, edges: IntArray, negatives: IntArray, nodes: int) -> None:
    """Raise DataError if many negatives of a part are its edges; report a few, as occur by chance.

    Pairs may be edges of the training part too: authors collaborate again.
    """
    shared = int(np.isin(*(pairs.min(axis=0) * nodes + pairs.max(axis=0) for pairs in (negatives, edges))).sum())
    message = f"lists {count(shared)} of {count(negatives.shape[1])} pairs in 'edge_neg' as edges too"
    if shared > BY_CHANCE * negatives.shape[1]:
        raise refusal(path, message)
    if shared:
        print(f"{path} {message}: they are kept.", file=sys.stderr, flush=True)
