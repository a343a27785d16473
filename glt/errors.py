"""Errors a user can act on: each message is one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class StudioError(Exception):
    """Anything the user can put right; `str(error)` is the one sentence to show."""


class ConfigError(StudioError):
    """A setting, name or command-line value that cannot be used."""


class DataError(StudioError):
    """A data set that is missing, damaged or not what its name promises."""


class StoreError(StudioError):
    """A run folder that cannot be read, written or found."""


class JobError(StudioError):
    """A worker that cannot be started, stopped or resumed."""


def unknown_name(noun: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, suggest the nearest known one and list the rest.

    >>> unknown_name("method", "ugz", ["ugs", "random"])
    "Unknown method 'ugz': did you mean 'ugs'? Known: random, ugs."
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    # Of names about as near, one with the same letters in another order is the likelier slip.
    nearest = next((other for other in close if sorted(other) == sorted(name)), close[0] if close else None)
    hint = f": did you mean {nearest!r}?" if nearest else "."
    return f"Unknown {noun} {name!r}{hint} Known: {', '.join(names)}."
