"""Errors that a user can act on, one sentence each, and the text that goes into such sentences.

A sentence says what is wrong, where, and what to do. Text from users is cleaned of what terminals or pages interpret.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# Characters of a quoted text, more than any real name or path has, and of its end, which says more than the middle.
QUOTED, TAIL = 160, 40
# Characters of a message about several settings at once.
LONGEST_MESSAGE = 4000
GAP = "..."


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
    close = difflib.get_close_matches(name[:QUOTED], names, n=3, cutoff=0.5)
    # Among near names, one with the same letters in another order is the likelier slip.
    nearest = next((other for other in close if sorted(other) == sorted(name)), close[0] if close else None)
    hint = f": did you mean {nearest!r}?" if nearest else "."
    return f"Unknown {noun} {quoted(name)}{hint} Known: {', '.join(names)}."


def no_round(round: int | str, where: object, last: int) -> str:
    """Say that there is no such round.

    >>> no_round(9, "runs/a/seed-0", 3)
    'There is no round 9 in runs/a/seed-0: choose a round from 0 to 3.'
    """
    choose = f"a round from 0 to {last}" if last > 0 else "round 0"
    return f"There is no round {round} in {where}: choose {choose}."


# Text.


def quoted(value: object) -> str:
    r"""Return the `repr` of a value, shortened as by `brief`.

    >>> quoted("a\x1b"), quoted(5)
    ("'a\\x1b'", '5')
    """
    if isinstance(value, int) and abs(value) >= 10**QUOTED:
        # Python itself refuses to write some of these.
        return "a number of very many digits"
    return brief(
        repr(value[: 2 * QUOTED] + value[-TAIL:] if isinstance(value, str) and len(value) > 3 * QUOTED else value)
    )


def brief(text: str, most: int = QUOTED) -> str:
    r"""Return text on one line as `one_line`, shortened in the middle if it is long.

    >>> brief("wide\nnet"), len(brief(10_000 * "a"))
    ('wide net', 163)
    """
    cut = text if len(text) <= most else f"{text[: most - TAIL]}{GAP}{text[-TAIL:]}"
    return one_line(cut)


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
