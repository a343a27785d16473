"""JSON that somebody brings: every text that is not exactly one document of plain JSON is the same ValueError."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def parsed(text: bytes | str) -> Any:
    """Return the document in a JSON text; raises ValueError for anything else.

    NaN and infinities, written so or by too large an exponent, are no JSON; nesting beyond what Python follows,
    numbers of thousands of digits and a name that stands twice in one object are refused as well.

    >>> parsed('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return document
