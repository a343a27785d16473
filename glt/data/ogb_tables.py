"""Numbers in OGB's tables, looked at before ogb reads them: it cuts 1.5 down to 1, and takes NaN for a huge number."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glt.data.ogb_files import TABLE, OgbFiles, refusal

if TYPE_CHECKING:
    import pandas as pd

# Whole numbers that say which node, class or species; ogb makes integers of most of them, whatever they are.
WHOLE = ("edge", "node-label", "node_species")
# So many numbers are held at a time.
_HELD = 1 << 22


def check_whole(files: OgbFiles, folder: Path) -> None:
    """Raise DataError for a table of ids or classes, or a part of the split, with anything but whole numbers."""
    raw = files.raw(folder)
    tables = [raw[name] for name in files.tables if name in WHOLE]
    for path in tables:
        _check(path)
    if files.split_ending == TABLE:
        for path in files.parts(folder).values():
            _check(path, columns=1)


def _check(path: Path, columns: int | None = None) -> None:
    if why := table_fault(path, whole=True, columns=columns):
        raise refusal(path, why)


def table_fault(path: Path, whole: bool = False, columns: int | None = None) -> str | None:
    """Say what is wrong with a table of numbers, of `columns` whole ones a row where that is asked for, else None."""
    import pandas as pd

    try:
        return next((why for rows in _pieces(path) if (why := _fault(rows, whole, columns))), None)
    except pd.errors.EmptyDataError:
        return "is empty"
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        ragged = "row {1} has {2} columns, not {0}".format(*found.groups()) if found else "its rows are no numbers"
        return f"cannot be read as a table ({ragged})"
    except (OSError, EOFError, zlib.error) as error:
        return f"cannot be unpacked ({error})"
    except ValueError:
        return "cannot be read as a table (it is no text of numbers)"


def _pieces(path: Path) -> Iterator[pd.DataFrame]:
    import pandas as pd

    wide = pd.read_csv(path, compression="gzip", header=None, nrows=1).shape[1]
    with pd.read_csv(path, compression="gzip", header=None, chunksize=max(1, _HELD // wide)) as pieces:
        yield from pieces


def _fault(rows: pd.DataFrame, whole: bool, columns: int | None) -> str | None:
    if columns is not None and rows.shape[1] != columns:
        return f"has {rows.shape[1]} columns, not {columns}"
    kinds = {kind.kind for kind in rows.dtypes}
    if not kinds <= set("iuf"):
        return "holds something that is not a number"
    if whole and kinds != {"i"} and not all(_all_whole(rows[column].to_numpy()) for column in rows):
        return "holds an entry that is no whole number"
    return None


def _all_whole(values: NDArray[Any]) -> bool:
    """Say whether all are whole numbers that 64 bits hold, 2.0 among them."""
    return bool((np.isfinite(values) & (np.trunc(values) == values) & (np.abs(values) < 2.0**63)).all())
