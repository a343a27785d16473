"""Tables as CSV and JSON: full precision, empty where a number is missing."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as UTF-8 CSV with a header line; tuples become numbers with spaces between them."""
    return str(table.map(_flat).to_csv(index=False, lineterminator="\n")).encode()


def json_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as a JSON list of objects; a missing number is null, as bare NaN is no JSON."""
    records = [{name: _plain(value) for name, value in row.items()} for row in table.to_dict("records")]
    return (json.dumps(records, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()


def _flat(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value
