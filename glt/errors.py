"""Errors that a user can act on: one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from glt.user_text import MOST, quoted


class StudioError(Exception):
    """Anything the user can correct; `str(error)` is the sentence to show."""


class ConfigError(StudioError):
    """A setting, name or command-line value that cannot be used; `faults` are its sentences."""

    def __init__(self, *faults: str) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        super().__init__(_joined(self.faults))


class Faults:
    """Collects errors of several settings, to be raised together."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def add(self, *sentences: str) -> None:
        """Add sentences."""
        self._found += sentences

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Collect a ConfigError that the context raises, and continue."""
        try:
            yield
        except ConfigError as error:
            self.add(*error.faults)

    def raise_any(self) -> None:
        """Raise one ConfigError for everything collected."""
        if self._found:
            raise ConfigError(*self._found)


class DataError(StudioError):
    """A data set that is missing, damaged or not what its name says."""


class StoreError(StudioError):
    """A run folder that cannot be read, written or found."""


class JobError(StudioError):
    """A worker that cannot be started, stopped or resumed."""


def _joined(faults: tuple[str, ...]) -> str:
    """Join sentences into one, with their number first if several.

    >>> _joined(("a cannot be 1.", "b cannot be 2."))
    '2 settings cannot be used: a cannot be 1; b cannot be 2.'
    """
    if len(faults) == 1:
        return faults[0]
    return f"{len(faults)} settings cannot be used: {'; '.join(fault.removesuffix('.') for fault in faults)}."


def unknown_name(noun: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, suggest the nearest and list the known ones.

    >>> unknown_name("method", "ugz", ["ugs", "random"])
    "Unknown method 'ugz': did you mean 'ugs'? Known: random, ugs."
    """
    names = sorted(known)
    close = difflib.get_close_matches(name[:MOST], names, n=3, cutoff=0.5)
    # Among near names, one with the same letters in another order is the likelier slip.
    nearest = next((other for other in close if sorted(other) == sorted(name)), close[0] if close else None)
    hint = f": did you mean {nearest!r}?" if nearest else "."
    return f"Unknown {noun} {quoted(name)}{hint} Known: {', '.join(names)}."
