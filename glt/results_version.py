"""The version of results: which arithmetic computed a run's rounds, and a note where it was another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from glt import formats

if TYPE_CHECKING:
    from glt.store import KnownRun, SeedFolder

# Raised by every change of arithmetic that changes the bits of a round; docs/choices.md says what differs.
# 1: the bundled examples, which record none.
RESULTS_VERSION = 2
UNRECORDED = 1
KEY = "results_version"


def version_of(environment: Mapping[str, Any]) -> int | None:
    """Return the results version in an environment.json; None if that is empty.

    Without a recorded version it is 1.

    >>> version_of({"threads": 1, "results_version": 2}), version_of({"threads": 1}), version_of({})
    (2, 1, None)
    """
    recorded = environment.get(KEY, UNRECORDED) if environment else None
    return recorded if isinstance(recorded, int) else None


def resumed_with(environment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return an environment.json's entries of later resumes; [] if damaged.

    >>> resumed_with({"resumed_with": [{"threads": 2}, 3]}), resumed_with({"resumed_with": None})
    ([{'threads': 2}], [])
    """
    entries = environment.get("resumed_with")
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def seed_version(seed: SeedFolder) -> int | None:
    """Return the results version a seed began with; None if unreadable."""
    return version_of(seed.known_environment())


def seed_versions(seed: SeedFolder) -> set[int]:
    """Return the results versions that computed a seed; several after a resume by another."""
    environment = seed.known_environment()
    later = [entry.get(KEY) for entry in resumed_with(environment)]
    return {version for version in (version_of(environment), *later) if isinstance(version, int)}


def run_version(run: KnownRun) -> int | None:
    """Return the lowest results version any seed of a run began with; None if unknown."""
    known = [version for seed in run.seeds() if (version := seed_version(run.seed(seed))) is not None]
    return min(known, default=None)


def version_note(runs: Sequence[KnownRun]) -> str:
    """Say in one sentence which runs another results version computed; "" if none."""
    versions = [{version for seed in run.seeds() for version in seed_versions(run.seed(seed))} for run in runs]
    others = [found - {RESULTS_VERSION} for found in versions]
    apart = [found for found in others if found]
    if not apart:
        return ""
    named = sorted(set.union(*apart))
    who = "" if len(apart) == len(runs) else f"{len(apart)} of {formats.number_of(len(runs), 'run')} "
    what = f"version{'s' if len(named) > 1 else ''} {' and '.join(map(str, named))}"
    computed = formats.opening(f"{who}computed by results {what}")
    return f"{computed}; this program computes version {RESULTS_VERSION}, whose rounds can differ."
