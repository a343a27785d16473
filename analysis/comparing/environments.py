"""What two runs were computed with, where it differs: versions, threads and devices explain last bits, data more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from glt.data.registry import current_hash
from glt.store import Run

PLAIN = ("threads", "device", "revision", "data_hash")
WORDS = {"data_hash": "data (hash)", "revision": "revision", "threads": "threads", "device": "device"}
# Hashes are told apart by so many letters.
LETTERS = 8


class EnvironmentDifference(NamedTuple):
    """One thing that was recorded differently: the values over the seeds of each run, none where nothing was."""

    what: str
    one: tuple[str, ...]
    other: tuple[str, ...]


def environment_differences(one: Run, other: Run) -> list[EnvironmentDifference]:
    """Return what the environments of the seeds record differently; what a seed was resumed with counts too."""
    first, second = _recorded(one), _recorded(other)
    return [
        EnvironmentDifference(what, first.get(what, ()), second.get(what, ()))
        for what in dict.fromkeys([*first, *second])
        if first.get(what) != second.get(what)
    ]


def _recorded(run: Run) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = defaultdict(set)
    for seed in run.seeds():
        for what, value in _flat(run.seed(seed).environment()):
            found[what].add(value)
    return {what: tuple(sorted(values)) for what, values in found.items()}


def _flat(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for versions in (environment.get("versions", {}), *environment.get("resumed_with", [])):
        yield from ((str(package), str(version)) for package, version in versions.items())
    for name in PLAIN:
        if environment.get(name) is not None:
            text = str(environment[name]) if name != "data_hash" else current_hash(str(environment[name]))
            yield WORDS[name], text[:LETTERS] if name in ("revision", "data_hash") else text
