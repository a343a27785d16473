"""Seeds as people list them: numbers and ranges with commas between them."""

from __future__ import annotations

import re

from glt.errors import ConfigError
from glt.printable import quoted

MOST = 1000
LARGEST = 999_999_999
LONG = re.compile(r"\d{10}")
RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def read_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds that `text` lists, each once; raises ConfigError for anything else.

    >>> read_seeds("0, 3-5"), read_seeds("7,")
    ((0, 3, 4, 5), (7,))
    """
    found: dict[int, None] = {}
    listed = text.strip(" ,")
    if not listed:
        raise ConfigError("No seed is given: write whole numbers and ranges, as in 0, 1, 2 or 0-4.")
    for part in map(str.strip, listed.split(",")):
        if LONG.search(part):
            raise ConfigError(f"{quoted(part)} is too large for a seed: the largest is {LARGEST}.")
        match = RANGE.fullmatch(part)
        if match is None:
            raise ConfigError(f"{quoted(part)} is no seed: write whole numbers and ranges, as in 0, 1, 2 or 0-4.")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < first + MOST:
            raise ConfigError(f"{quoted(part)} is no range of 1 to {MOST} seeds, the smaller number first.")
        found.update(dict.fromkeys(range(first, last + 1)))
    return tuple(found)
