"""Reading OGB's files through the ogb package: checked before, guarded during, checked after."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glt.data.graph import IntArray
from glt.data.ogb_files import RELEASE, TABLE, OgbFiles, check_complete, check_rows, refusal, stated_counts
from glt.data.ogb_package import master_entry, ogb_module, unattended
from glt.data.ogb_tables import check_whole, table_fault
from glt.data.room import check_room
from glt.data.scratch import scratch_folder
from glt.errors import DataError
from glt.user_path import cache_folder

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]
# Where ogb's Data keeps what a table held.
FIELDS = {"node-feat": "x", "edge-feat": "edge_attr", "node-label": "y"}


@dataclass(frozen=True, eq=False)
class OgbRead:
    """What ogb read: raw edges [2, R], tables by the name of their file, and the parts of the split as ogb has them."""

    files: OgbFiles
    folder: Path
    nodes: int
    pairs: IntArray
    tables: Mapping[str, Array]
    split: Mapping[str, Any]

    def path(self, name: str) -> Path:
        """Return the file of a table or of a part of the split, to name it in a refusal."""
        return {**self.files.raw(self.folder), **self.files.parts(self.folder)}[name]


def read_nodes(files: OgbFiles, folder: Path) -> OgbRead:
    """Return a data set for node prediction; raises DataError for files that are missing, damaged or no such set."""
    return _read(files, folder, "nodeproppred", "PygNodePropPredDataset", "get_idx_split")


def read_links(files: OgbFiles, folder: Path) -> OgbRead:
    """Return a data set for link prediction; raises DataError for files that are missing, damaged or no such set."""
    return _read(files, folder, "linkproppred", "PygLinkPropPredDataset", "get_edge_split")


def _read(files: OgbFiles, folder: Path, kind: str, reader: str, splitter: str) -> OgbRead:
    check_complete(files, folder)
    print(f"Reading {files.name} from {folder}, this once: the next time it is quick.", file=sys.stderr, flush=True)
    check_rows(files, folder)
    check_whole(files, folder)
    about = master_entry(kind, files.name)
    dataset_type = getattr(ogb_module(f"ogb.{kind}"), reader)
    with _linked(files, folder) as scratch:
        # Both directions of an edge, which ogb would add, say nothing new and take twice the memory.
        about |= {"dir_path": str(scratch), "add_inverse_edge": "False", "url": ""}
        try:
            # PyG says on standard error that it processes, and that it is done.
            with unattended(), _own_types(), contextlib.redirect_stderr(io.StringIO()):
                dataset = dataset_type(name=files.name, meta_dict=about)
                data, split = dataset[0].to_dict(), getattr(dataset, splitter)()
        except MemoryError as error:
            raise DataError(f"{files.name} in {folder} does not fit into memory: close other programs.") from error
        # Whatever a file makes ogb, pandas, PyG or torch raise: the file is at fault.
        except Exception as error:
            raise _fault(files, folder, error) from error
    return _as_read(files, folder, data, split)


def _as_read(files: OgbFiles, folder: Path, data: Mapping[str, Any], split: Mapping[str, Any]) -> OgbRead:
    nodes, edges = stated_counts(files, folder)
    tables = {name: data[FIELDS.get(name, name)].numpy() for name in files.tables if name != "edge"}
    read = OgbRead(files, folder, nodes, data["edge_index"].numpy(), tables, split)
    for name, values in {"edge": read.pairs.T, **tables}.items():
        wanted = nodes if name.startswith("node") else edges
        # A row that a program for tables takes for empty has gone.
        if values.shape[0] != wanted:
            raise refusal(read.path(name), f"has {values.shape[0]} rows with something in them, not {wanted}")
    return read


@contextlib.contextmanager
def _linked(files: OgbFiles, folder: Path) -> Iterator[Path]:
    """Give a folder of the same files that ogb may write to and rename in; the data root may be read-only."""
    nodes, edges = stated_counts(files, folder)
    home = cache_folder()
    with contextlib.suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
    with scratch_folder(home if home.is_dir() else None, ".ogb-") as scratch:
        # Two numbers of 8 bytes and perhaps eight of 4 an edge, and rather more than a node has.
        check_room(scratch, edges * (16 + 32 * ("edge-feat" in files.tables)) + nodes * 1024, f"to read {files.name}")
        for name, source in files.raw(folder).items():
            _link(source, scratch / "raw" / f"{name}{TABLE}")
        for source in files.parts(folder).values():
            _link(source, scratch / source.relative_to(folder))
        (scratch / RELEASE).touch()
        yield scratch


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.symlink_to(source.resolve())
    except OSError:
        # Some systems let only some users make links.
        shutil.copyfile(source, target)


@contextlib.contextmanager
def _own_types() -> Iterator[None]:
    """Let torch.load make what these files hold and nothing else: PyG's containers and NumPy's arrays of numbers."""
    import torch
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    # NumPy moved it; files keep the name of their time.
    rebuild = np.empty(0).__reduce__()[0]
    # So are the contents of an array without rows written.
    nothing = [(_nothing, "__builtin__.bytes"), (_nothing, "builtins.bytes")]
    names = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
    numbers = [type(np.dtype(kind)) for kind in ("int64", "int32", "float64", "float32")]
    arrays: list[Any] = [np.ndarray, np.dtype, *numbers, *((rebuild, name) for name in names), *nothing]
    with (
        torch.serialization.safe_globals([DataEdgeAttr, DataTensorAttr, GlobalStorage, *arrays]),
        warnings.catch_warnings(),
    ):
        # Who wrote a file with another pickle than PyTorch's is of no interest: what cannot be read is told.
        warnings.filterwarnings("ignore", "Detected pickle protocol", UserWarning)
        yield


def _nothing() -> bytes:
    return b""


def _fault(files: OgbFiles, folder: Path, error: Exception) -> DataError:
    """Find the file that ogb could not read; its own errors do not name it."""
    for path in [*files.raw(folder).values(), *files.parts(folder).values()]:
        if why := _unreadable(path):
            return refusal(path, why)
    told = " ".join(str(error).split()) or type(error).__name__
    return DataError(
        f"{files.name} in {folder} cannot be read ({told}): move the folder away and start again to download it."
    )


def _unreadable(path: Path) -> str | None:
    return table_fault(path) if path.name.endswith(TABLE) else _no_tensors(path)


def _no_tensors(path: Path) -> str | None:
    import torch

    try:
        with _own_types():
            torch.load(path)
    except Exception:
        # PyTorch advises at length to trust the file.
        return "cannot be read as arrays of numbers and nothing else"
    return None


def as_int_array(values: torch.Tensor | Array) -> IntArray:
    """Return numbers as ogb gives them, tensors or arrays, as int64."""
    return np.asarray(values).astype(np.int64)
