"""What the benchmarks of the app print, as results: start, pages, events and load have documents of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.results import Measured, Unit, single

MEGABYTE = 1_000_000
# How keys of those documents end, and the unit of the numbers in or under them.
UNITS: Mapping[str, Unit] = {
    "cpu_seconds": "CPU s",
    "seconds": "s",
    "listening": "s",
    "usable": "s",
    "memory": "B",
}
# Counts and rates beside what is measured.
NO_RESULT = ("count", "_a_minute", "minute")


def as_results(part: str, found: Mapping[str, Any]) -> list[Measured]:
    """Return every number of a document whose key, or a key over it, says its unit; names are the keys' paths.

    Of a list, memory minute by minute, the first and the last are taken.

    >>> [each.name for each in as_results("start", {"warm": {"usable": 1.5, "starts": 5}})]
    ['start/warm/usable']
    """
    return list(_leaves(part, found, None))


def _leaves(name: str, found: Mapping[str, Any], over: Unit | None) -> Iterator[Measured]:
    for key, value in found.items():
        path, unit = f"{name}/{key.replace('_', ' ')}", _unit(key) or over
        if isinstance(value, Mapping):
            yield from _leaves(path, value, unit)
        elif isinstance(value, list):
            yield from _ends(name, value, unit)
        elif unit and isinstance(value, int | float) and not key.endswith(NO_RESULT):
            yield single(path, value * MEGABYTE if unit == "B" else value, unit)


def _ends(name: str, values: Sequence[Any], unit: Unit | None) -> Iterator[Measured]:
    known = [each for each in values if isinstance(each, Mapping)]
    for which, each in zip(("start", "end"), (known[0], known[-1]) if known else (), strict=False):
        yield from _leaves(f"{name}/{which}", each, unit)


def _unit(key: str) -> Unit | None:
    return next((unit for end, unit in UNITS.items() if key.endswith(end)), None)
