"""Seeds: read from text (`read_seeds`), and turned into random streams (`stream`)."""

from __future__ import annotations

import hashlib
import re

import numpy as np

from glt.errors import ConfigError, quoted

MOST_SEEDS = 1000
LARGEST = 999_999_999
LONG = re.compile(r"\d{10}")
RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def read_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds that `text` lists, each once; raise ConfigError for anything else.

    >>> read_seeds("0, 3-5"), read_seeds("7,")
    ((0, 3, 4, 5), (7,))
    """
    found: dict[int, None] = {}
    listed = text.strip(" ,")
    if not listed:
        raise ConfigError("No seed is given: use whole numbers and ranges, such as 0, 1, 2 or 0-4.")
    for part in map(str.strip, listed.split(",")):
        if LONG.search(part):
            raise ConfigError(f"{quoted(part)} is too large for a seed: the largest is {LARGEST}.")
        match = RANGE.fullmatch(part)
        if match is None:
            raise ConfigError(f"{quoted(part)} is not a seed: use whole numbers and ranges, such as 0, 1, 2 or 0-4.")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < first + MOST_SEEDS:
            raise ConfigError(
                f"{quoted(part)} is not a range of 1 to {MOST_SEEDS} seeds with the smaller number first."
            )
        found.update(dict.fromkeys(range(first, last + 1)))
    return tuple(found)


def stream(seed: int, round: int, stage: str) -> np.random.Generator:
    """Return the generator of one stage of one round.

    Equal arguments give equal numbers on every platform, so a resumed run draws the same.

    >>> stream(0, 1, "search").random() == stream(0, 1, "search").random()
    True
    """
    code = int.from_bytes(hashlib.sha256(stage.encode()).digest()[:4], "big")
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(round, code))))
