"""Tables as CSV and JSON: full precision, empty where a number is missing."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd

from glt.printable import cell


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as UTF-8 CSV with a header line; tuples become numbers with spaces between them.

    A spreadsheet computes nothing of it: text that it would take for a formula begins with '.
    """
    return str(table.map(_flat).rename(columns=cell).to_csv(index=False, lineterminator="\n")).encode()


def json_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as a JSON list of objects; a missing number is null, as bare NaN is no JSON."""
    records = [{name: _plain(value) for name, value in row.items()} for row in table.to_dict("records")]
    return (json.dumps(records, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()


def _flat(value: Any) -> Any:
    return cell(" ".join(map(str, value)) if isinstance(value, tuple) else value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value
