"""Mending: what is damaged or left over is moved aside, what follows from that is put in order, nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from glt.doctor.examination import Examined, beside_runs, examine
from glt.doctor.finding import Finding
from glt.store import Store, paths
from glt.store.lock import briefly_locked, locked
from glt.store.setting_aside import Aside, is_usable

OF_STORE = f".{paths.ASIDE}"


@dataclass(frozen=True)
class Mended:
    """What mending came to: the findings that are mended, those that are left, and where things were moved."""

    mended: tuple[Finding, ...]
    left: tuple[Finding, ...]
    aside: Path | None


def mend(examined: Examined) -> Mended:
    """Mend what was found and is found once more now that nobody else can write; a folder that is well stays as it is.

    Raises StoreError when the folder cannot be written, and for a seed that a worker has taken since: it names the
    process.
    """
    aside = Aside(examined.folder, OF_STORE if examined.is_store else paths.ASIDE)
    able = [finding for finding in examined.findings if finding.mend is not None]
    if not able:
        return Mended((), examined.findings, None)
    # A lock that is none can only be taken once it is out of the way.
    freed = [finding for finding in able if finding.path.name == paths.LOCK and not is_usable(finding.path)]
    _apply(freed, aside)
    with _held(examined, able) as seeds:
        known = {(finding.path, finding.wrong) for finding in examined.findings}
        again = [each for each in _again(examined, seeds).findings if (each.path, each.wrong) in known]
        rest = [finding for finding in again if finding.mend is not None]
        _apply([finding for finding in rest if finding.moves], aside)
        _apply([finding for finding in rest if not finding.moves], aside)
    left = tuple(each for each in again if each.mend is None)
    # Without a config.json the run is not whole yet, and what is needed next is said.
    lost = () if examined.run or examined.is_store or not rest else examine(examined.folder).findings
    return Mended((*freed, *rest), (*left, *lost), aside.folder)


@contextmanager
def _held(examined: Examined, findings: Iterable[Finding]) -> Iterator[set[int]]:
    """Hold all locks of what the findings are on, and give the numbers of the seeds among it."""
    folders = {finding.path.parent for finding in findings} - {examined.folder}
    seeds = {number: folder for folder in folders if (number := paths.seed_of(folder.name)) is not None}
    with ExitStack() as held:
        for number in sorted(seeds):
            held.enter_context(locked(seeds[number] / paths.LOCK))
        store = examined.folder if examined.is_store else examined.folder.parent
        for lock in (store / paths.CONFIG_LOCK, store / paths.ANNOTATIONS_LOCK):
            if is_usable(lock):
                held.enter_context(briefly_locked(lock))
        yield set(seeds)


def _again(examined: Examined, held: set[int]) -> Examined:
    return beside_runs(Store(examined.folder)) if examined.is_store else examine(examined.folder, held)


def _apply(findings: Iterable[Finding], aside: Aside) -> None:
    for finding in findings:
        if finding.mend is not None:
            finding.mend(aside)
