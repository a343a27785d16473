"""What the benchmarks of the app print, as results: start, pages and load have documents of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.results import Measured, Unit, single

MEGABYTE = 1_000_000
# How the keys of those documents end, and the unit of what they hold.
UNITS: Mapping[str, Unit] = {"cpu_seconds": "CPU s", "seconds": "s", "listening": "s", "usable": "s"}
MEMORY = ("memory", "mb", "megabytes")


def as_results(part: str, found: Mapping[str, Any]) -> list[Measured]:
    """Return every number of a document whose key says its unit, named by the keys that lead to it.

    >>> [each.name for each in as_results("start", {"warm": {"usable": 1.5, "starts": 5}})]
    ['start/warm/usable']
    """
    return list(_leaves(part, found, in_memory=False))


def _leaves(name: str, found: Mapping[str, Any], in_memory: bool) -> Iterator[Measured]:
    for key, value in found.items():
        path = f"{name}/{key.replace('_', ' ')}"
        memory = in_memory or key.lower().endswith(MEMORY)
        if isinstance(value, Mapping):
            yield from _leaves(path, value, memory)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if memory:
                yield single(path, value * MEGABYTE, "B")
            elif unit := _unit(key):
                yield single(path, value, unit)


def _unit(key: str) -> Unit | None:
    return next((unit for end, unit in UNITS.items() if key.endswith(end)), None)
