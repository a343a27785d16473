"""Repairs of the doctor's findings: files are moved aside and the rest put in order; nothing is deleted."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from glt.doctor.checks import Examined, Finding, Repair, examine, examine_beside_runs, state_of_files
from glt.store import SeedFolder, Status, Store, paths
from glt.store.atomic_io import cut_file, whole_lines
from glt.store.locks import briefly_locked, locked
from glt.store.recovery import Aside, is_usable

ASIDE_OF_STORE = f".{paths.ASIDE}"


@dataclass(frozen=True)
class Repaired:
    """The `repaired` findings, those left, and the folder that files were moved to."""

    repaired: tuple[Finding, ...]
    left: tuple[Finding, ...]
    aside: Path | None


def repair(examined: Examined) -> Repaired:
    """Repair the findings that still hold once the locks are taken."""
    aside = Aside(examined.folder, ASIDE_OF_STORE if examined.is_store else paths.ASIDE)
    able = [finding for finding in examined.findings if finding.repair is not None]
    if not able:
        return Repaired((), examined.findings, None)
    # A folder or link in the place of a lock must go before the lock can be taken.
    freed = [finding for finding in able if finding.path.name == paths.LOCK and not is_usable(finding.path)]
    for finding in freed:
        aside.move(finding.path)
    with _locks(examined, able) as seeds:
        known = {(finding.path, finding.wrong) for finding in examined.findings}
        again = examine_beside_runs(Store(examined.folder)) if examined.is_store else examine(examined.folder, seeds)
        found = [finding for finding in again.findings if (finding.path, finding.wrong) in known]
        able = [finding for finding in found if finding.repair is not None]
        _apply(again, able, aside)
    left = [finding for finding in found if finding.repair is None]
    if able and not examined.run and not examined.is_store:
        # Without a config.json the run is not whole yet, and the next finding says what it needs.
        left += examine(examined.folder).findings
    return Repaired((*freed, *able), tuple(left), aside.folder)


@contextmanager
def _locks(examined: Examined, findings: Iterable[Finding]) -> Iterator[list[int]]:
    """Hold all locks that the findings concern; yield the seeds among them."""
    folders = {finding.path.parent for finding in findings} - {examined.folder}
    seeds = {number: folder for folder in folders if (number := paths.seed_of(folder.name)) is not None}
    with ExitStack() as held:
        for number in sorted(seeds):
            held.enter_context(locked(seeds[number] / paths.LOCK))
        store = examined.folder if examined.is_store else examined.folder.parent
        for lock in (store / paths.CONFIG_LOCK, store / paths.ANNOTATIONS_LOCK):
            if is_usable(lock):
                held.enter_context(briefly_locked(lock))
        yield sorted(seeds)


def _apply(examined: Examined, findings: Sequence[Finding], aside: Aside) -> None:
    """Move files and cut tables, then put each seed's rounds and state in order."""
    for finding in findings:
        if finding.repair is Repair.MOVE:
            aside.move(finding.path)
        elif finding.repair is Repair.CUT:
            aside.copy(finding.path)
            cut_file(finding.path, whole_lines(finding.path)[1])
    ways: defaultdict[int, set[Repair | None]] = defaultdict(set)
    for finding in findings:
        if (number := paths.seed_of(finding.path.parent.name)) is not None:
            ways[number].add(finding.repair)
    if examined.run is not None:
        for number, way in ways.items():
            _put_in_order(examined.run.seed(number), way, aside)


def _put_in_order(seed: SeedFolder, way: Collection[Repair | None], aside: Aside) -> None:
    """Cut a seed back to its whole rounds; write the state that its files show, and keep a copy of a wrong one."""
    if Repair.ROUNDS in way:
        seed.drop_unfinished(aside)
    written, state, path = seed.written_status(), state_of_files(seed), seed.path / paths.STATUS
    says_done = written is not None and written.state == "done"
    if Repair.STATUS not in way and (not says_done or state == "done"):
        return
    if is_usable(path):
        aside.copy(path)
    elif os.path.lexists(path):
        aside.move(path)
    threads = seed.known_environment().get("threads")
    if not isinstance(threads, int):
        threads = written.threads if written else 1
    seed.write_status(Status(state=state, seed=seed.seed, threads=threads))
