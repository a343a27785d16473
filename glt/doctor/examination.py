"""Looking at whole runs and at a store: every seed, what lies beside them, and what the store keeps for itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from glt.doctor.configs import config_finding
from glt.doctor.examples import example_findings
from glt.doctor.finding import Finding, moved
from glt.doctor.seeds import is_busy, seed_findings
from glt.doctor.stores import check_store, store_findings
from glt.doctor.strays import strays
from glt.errors import StoreError
from glt.store import AnyRun, Store, paths
from glt.store.opening import open_folder


@dataclass(frozen=True)
class Examined:
    """What was found in a folder: of a run, or in the store beside its runs. Seeds that are `busy` were not looked at.

    `run` is None where the folder cannot be opened as one.
    """

    folder: Path
    findings: tuple[Finding, ...]
    run: AnyRun | None = None
    busy: tuple[int, ...] = ()
    is_store: bool = False


def examine_store(store: Store) -> Iterator[Examined]:
    """Look at every run of a store, by name, and then at what the store keeps beside them.

    Raises StoreError for a folder that is no store. Each run is looked at when it is asked for.
    """
    check_store(store)
    yield from map(examine, store.folders())
    yield beside_runs(store)


def beside_runs(store: Store) -> Examined:
    """Look at what a store keeps beside its runs."""
    return Examined(store.root, tuple(store_findings(store)), is_store=True)


def examine(folder: Path, held: Collection[int] = ()) -> Examined:
    """Look at every file of one run; a seed that a worker is at is left alone, but for those `held` by the caller."""
    try:
        run = open_folder(folder)
    except StoreError as error:
        return _told_where_linked(Examined(folder, (config_finding(folder, error),)))
    if run.is_example:
        return Examined(folder, tuple(example_findings(run)), run)
    numbers = {paths.seed_of(path.name) for path in folder.iterdir() if path.is_dir()}
    seeds = [run.seed(number) for number in sorted(each for each in numbers if each is not None)]
    busy = tuple(seed.seed for seed in seeds if (seed.is_at_work() if seed.seed in held else is_busy(seed)))
    found = [finding for seed in seeds if seed.seed not in busy for finding in seed_findings(seed)]
    return _told_where_linked(Examined(folder, (*found, *_beside_seeds(folder)), run, busy))


def _told_where_linked(examined: Examined) -> Examined:
    """Leave out of mending what lies beyond a symbolic link: it is outside the store, and may be of others."""
    found = tuple(
        _unmended(finding) if _is_linked(examined.folder, finding.path) else finding for finding in examined.findings
    )
    return replace(examined, findings=found)


def _unmended(finding: Finding) -> Finding:
    then = "it lies beyond a symbolic link, so it is left alone: put the folder itself in the link's place"
    return replace(finding, then=then, mend=None, moves=False) if finding.mend is not None else finding


def _is_linked(folder: Path, path: Path) -> bool:
    return folder.is_symlink() or any((folder / part).is_symlink() for part in path.relative_to(folder).parents)


def _beside_seeds(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.iterdir()):
        if paths.seed_of(path.name) is not None and not path.is_dir():
            yield moved(path, "is no folder", "resuming makes the seed again")
    yield from strays(folder, paths.is_of_run)
