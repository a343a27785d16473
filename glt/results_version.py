"""The results version: the arithmetic that computed a run's rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from glt import formats

if TYPE_CHECKING:
    from glt.store import KnownRun, SeedFolder

# Raised by every change of arithmetic that changes the bits of a round; docs/choices.md lists the differences.
# Version 1, that of the bundled examples, is not recorded.
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
    """Return a sentence on runs computed by another results version; "" if none."""
    versions = [{version for seed in run.seeds() for version in seed_versions(run.seed(seed))} for run in runs]
    others = [found - {RESULTS_VERSION} for found in versions]
    outdated = [found for found in others if found]
    if not outdated:
        return ""
    named = sorted(set.union(*outdated))
    subject = "" if len(outdated) == len(runs) else f"{len(outdated)} of {formats.number_of(len(runs), 'run')} "
    version_text = f"version{'s' if len(named) > 1 else ''} {' and '.join(map(str, named))}"
    computed = formats.opening(f"{subject}computed by results {version_text}")
    return f"{computed}; this program computes version {RESULTS_VERSION}, whose rounds can differ."
