"""Tables as plain values for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as a list of objects; a missing number is null, a whole one has no decimals.

    >>> import pandas as pd
    >>> records(pd.DataFrame({"round": [3.0, math.nan], "verdict": ["higher", ""]}))
    [{'round': 3, 'verdict': 'higher'}, {'round': None, 'verdict': ''}]
    """
    rows = table.to_dict("records")
    return [{str(name): _plain(str(name), value) for name, value in row.items()} for row in rows]


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    counted = name.endswith(("round", "seeds", "runs"))
    return int(value) if counted else value
