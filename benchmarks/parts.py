"""The parts of `python -m benchmarks all`: commands and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.results import Measured, Unit, single

Size = Literal["quick", "usual", "full"]
Words = tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A benchmark command in three sizes (None: left out), with a time limit in seconds."""

    name: str
    usual: Words | None
    quick: Words | None = None
    full: Words | None = None
    seconds: int = 600

    def words(self, size: Size) -> Sequence[str] | None:
        """Return the command-line arguments for a size."""
        chosen = {"quick": self.quick, "usual": self.usual, "full": self.full or self.usual}[size]
        return None if chosen is None else (*chosen, "--json")


DAY = 86_400

PARTS = (
    Part(
        "floors",
        ("floors",),
        quick=("floors", "--datasets", "cora", "--turns", "5"),
        full=("floors", "--turns", "40"),
        seconds=1800,
    ),
    Part(
        "epochs",
        ("epochs", "--subjects", "cora", "citeseer", "--seconds", "3"),
        quick=("epochs", "--subjects", "cora", "--models", "gcn", "gat", "--seconds", "3"),
        full=("epochs", "--subjects", "cora", "citeseer", "--seconds", "20"),
        seconds=1800,
    ),
    Part(
        "epochs of pubmed",
        ("epochs", "--subjects", "pubmed", "--models", "gcn", "gin", "--seconds", "4"),
        full=("epochs", "--subjects", "pubmed", "--seconds", "60"),
        seconds=7200,
    ),
    Part(
        "epochs of arxiv",
        ("epochs", "--subjects", "arxiv", "--models", "gcn", "--seconds", "4"),
        full=("epochs", "--subjects", "arxiv", "--seconds", "60"),
        seconds=7200,
    ),
    Part(
        "formulations",
        ("formulations", "--subjects", "cora", "--turns", "2", "--memory"),
        full=("formulations", "--turns", "5", "--memory"),
        seconds=3600,
    ),
    Part("runs", ("runs", "--full"), seconds=7200),
    Part("two runs of pubmed", ("runs", "--full", "--subjects", "pubmed", "--seeds", "0", "1"), seconds=DAY),
    Part("parallel", ("parallel", "--turns", "2"), full=("parallel", "--turns", "5"), seconds=1800),
    Part(
        "measurements",
        ("measurements",),
        quick=("measurements", "--subjects", "cora", "--networkx", "--seconds", "1"),
        full=("measurements", "--networkx", "cora", "citeseer", "--seconds", "20"),
        seconds=1800,
    ),
    Part("pictures", ("pictures",), quick=("pictures", "--subjects", "cora", "--seconds", "1"), seconds=900),
    Part("stores", ("stores",), quick=("stores", "--runs", "50", "--seconds", "1"), seconds=900),
    Part("start", ("start", "--starts", "3"), full=("start", "--starts", "10"), seconds=900),
    Part("pages", ("pages", "--epochs", "3"), full=("pages", "--epochs", "20"), seconds=3600),
    Part("events", ("events", "--repeats", "3"), seconds=1800),
    Part("load", None, full=("load",), seconds=3600),
)


# Results from the JSON documents of start, pages, events and load.

MEGABYTE = 1_000_000
# Endings of keys, and the unit of the numbers at or below them.
UNITS: Mapping[str, Unit] = {
    "cpu_seconds": "CPU s",
    "seconds": "s",
    "listening": "s",
    "usable": "s",
    "memory": "B",
}
# Endings of counts and rates, which are not results.
NO_RESULT = ("count", "_a_minute", "minute")


def as_results(part: str, found: Mapping[str, Any]) -> list[Measured]:
    """Return every number of a document whose key, or a parent key, implies a unit.

    Names are the paths of keys. Of a list only the first and last item are taken.

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
