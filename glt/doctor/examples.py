"""Looking at a run that nobody writes to, an example: what is damaged is told, and stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from glt.doctor.finding import Finding
from glt.errors import StoreError
from glt.store import AnyRun, Run, SeedRun, paths

REMEDY = "bring it back from a copy (in a checkout: git checkout)"


def example_findings(run: AnyRun) -> list[Finding]:
    """Return every file of an example that cannot be read."""
    return [finding for seed in run.seeds() if isinstance(run, Run) for finding in _of_seed(run.seed(seed))]


def _of_seed(seed: SeedRun) -> Iterator[Finding]:
    reads: dict[str, Callable[[], object]] = {
        paths.ROUNDS: seed.rounds,
        paths.EVENTS: seed.events,
        paths.ENVIRONMENT: seed.environment,
        paths.COMPACT_MASKS: lambda: seed.masks(0),
    }
    for name, read in reads.items():
        yield from _of_file(seed.path / name, read)


def _of_file(path: Path, read: Callable[[], object]) -> Iterator[Finding]:
    try:
        read()
    except StoreError:
        yield Finding(path, "is damaged" if path.exists() else "is missing", REMEDY)
