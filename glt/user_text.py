"""Text and JSON from users, cleaned of characters that terminals, pages or spreadsheets interpret."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

# Longer than any real name or path; the end of a path says more than its middle.
MOST, TAIL = 160, 40
# What is said of several settings at once.
MOST_SAID = 4000
GAP = "..."
# What a spreadsheet takes for the beginning of a formula, the wide forms of some editions too; spaces before it count
# for nothing, and a tab or a new line moves what follows to a cell of its own.
COMPUTED = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
SPACE = " \xa0"
_NUMBERS = re.compile(r"([+-]?[\d.]+(e[+-]?\d+)?( |$))+", re.ASCII | re.IGNORECASE)


def one_line(text: str) -> str:
    r"""Return text on one line, without invisible characters, with single spaces.

    >>> one_line(" wide \n net\u202e ")
    'wide net'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def several_lines(text: str) -> str:
    r"""Return text without invisible characters, its lines kept.

    >>> several_lines("a\x00b\nc ")
    'a b\nc'
    """
    return "\n".join(
        "".join(letter if letter.isprintable() else " " for letter in line).rstrip()
        for line in text.strip().split("\n")
    )


def brief(text: str, most: int = MOST) -> str:
    r"""Return text on one line as `one_line`, shortened in the middle if it is long.

    >>> brief("wide\nnet"), len(brief(10_000 * "a"))
    ('wide net', 163)
    """
    cut = text if len(text) <= most else f"{text[: most - TAIL]}{GAP}{text[-TAIL:]}"
    return one_line(cut)


def cell(value: object) -> object:
    r"""Return a value for a spreadsheet cell; text that it would compute gets a leading '.

    >>> cell("=1+1"), cell("@a"), cell("-0.5"), cell(-0.5), cell("ugs")
    ("'=1+1", "'@a", '-0.5', -0.5, 'ugs')
    """
    if not isinstance(value, str):
        return value
    # Writers of CSV leave a lone return as it is, and readers begin a row after it.
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    if not value.lstrip(SPACE).startswith(COMPUTED) or _NUMBERS.fullmatch(value):
        return value
    return f"'{value}"


def quoted(value: object) -> str:
    r"""Return the `repr` of a value, shortened as by `brief`.

    >>> quoted("a\x1b"), quoted(5)
    ("'a\\x1b'", '5')
    """
    if isinstance(value, int) and abs(value) >= 10**MOST:
        # Python itself refuses to write some of these.
        return "a number of very many digits"
    return brief(repr(value[: 2 * MOST] + value[-TAIL:] if isinstance(value, str) and len(value) > 3 * MOST else value))


def parse_json(text: bytes | str) -> Any:
    """Return the document in a JSON text; raises ValueError for anything else.

    Refused are NaN, infinities, numbers too large for a double or of thousands of digits, deep nesting, and names that
    occur twice in one object.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return document
