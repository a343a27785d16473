"""Looking at whole runs and at a store: every seed, what lies beside them, and what the store keeps for itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from glt.doctor.configs import config_finding
from glt.doctor.examples import example_findings
from glt.doctor.finding import Finding, moved
from glt.doctor.seeds import is_busy, seed_findings
from glt.doctor.stores import store_findings
from glt.errors import StoreError
from glt.store import AnyRun, Store, paths
from glt.store.opening import open_folder

OF_RUN = frozenset({paths.CONFIG, paths.EXAMPLE_MARK, paths.ASIDE})


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


def examine_store(store: Store) -> list[Examined]:
    """Look at every run of a store, by name, and at what the store keeps beside them."""
    runs = [examine(folder) for folder in store.folders()]
    return [*runs, Examined(store.root, tuple(store_findings(store)), is_store=True)]


def examine(folder: Path) -> Examined:
    """Look at every file of one run; a seed that a worker is at is left alone."""
    try:
        run = open_folder(folder)
    except StoreError as error:
        return Examined(folder, (config_finding(folder, error),))
    if run.is_example:
        return Examined(folder, tuple(example_findings(run)), run)
    numbers = {paths.seed_of(path.name) for path in folder.iterdir() if path.is_dir()}
    seeds = [run.seed(number) for number in sorted(each for each in numbers if each is not None)]
    busy = tuple(seed.seed for seed in seeds if is_busy(seed))
    found = [finding for seed in seeds if seed.seed not in busy for finding in seed_findings(seed)]
    return Examined(folder, (*found, *_beside_seeds(folder)), run, busy)


def _beside_seeds(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.iterdir()):
        is_seed = paths.seed_of(path.name) is not None
        if path.name.endswith(paths.UNFINISHED_WRITE):
            yield moved(path, "was being written when its process ended", "")
        elif is_seed and not path.is_dir():
            yield moved(path, "is no folder", "resuming makes the seed again")
        elif not is_seed and path.name not in OF_RUN and not path.name.startswith("."):
            yield moved(path, "does not belong to a run", "")
