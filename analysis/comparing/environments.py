"""What two runs were computed with, where it differs: versions, threads and devices explain last bits, data more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from glt.data.registry import current_hash
from glt.results_version import KEY, resumed_with, version_of
from glt.store import Run

WORDS = {
    "threads": "threads",
    "device": "device",
    "results_version": "results version",
    "revision": "revision",
    "modified": "sources edited since",
    "sources": "sources (hash)",
    "data_hash": "data (hash)",
}
# So many letters of a hash are shown.
HASHES, LETTERS = frozenset({"revision", "sources", "data_hash"}), 8


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
    begun = environment.get("versions")
    for versions in (begun if isinstance(begun, Mapping) else {}, *resumed_with(environment)):
        yield from (_entry(str(what), value) for what, value in versions.items() if value is not None)
    yield from (_entry(name, environment[name]) for name in WORDS if environment.get(name) is not None)
    if environment and KEY not in environment:
        yield _entry(KEY, version_of(environment))


def _entry(name: str, value: Any) -> tuple[str, str]:
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    text = current_hash(text) if name == "data_hash" else text
    return WORDS.get(name, name), text[:LETTERS] if name in HASHES else text
