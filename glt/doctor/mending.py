"""Mending: what is damaged or left over is moved aside, what follows from that is put in order, nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from glt.doctor.examination import Examined
from glt.doctor.finding import Finding
from glt.store import paths
from glt.store.lock import locked
from glt.store.setting_aside import Aside

OF_STORE = f".{paths.ASIDE}"


@dataclass(frozen=True)
class Mended:
    """What mending came to: the findings that are mended, those that are left, and where things were moved."""

    mended: tuple[Finding, ...]
    left: tuple[Finding, ...]
    aside: Path | None


def mend(examined: Examined) -> Mended:
    """Mend what can be mended of what was found; raises StoreError when the folder cannot be written.

    A seed that a worker has taken since is not touched: StoreError names the process.
    """
    aside = Aside(examined.folder, OF_STORE if examined.is_store else paths.ASIDE)
    able = [finding for finding in examined.findings if finding.mend is not None]
    # A lock that is none can only be taken once it is out of the way.
    _apply([finding for finding in able if finding.path.name == paths.LOCK], aside)
    with ExitStack() as held:
        for folder in sorted({finding.path.parent for finding in able} - {examined.folder}):
            if paths.seed_of(folder.name) is not None:
                held.enter_context(locked(folder / paths.LOCK))
        rest = [finding for finding in able if finding.path.name != paths.LOCK]
        _apply([finding for finding in rest if finding.moves], aside)
        _apply([finding for finding in rest if not finding.moves], aside)
    return Mended(tuple(able), tuple(each for each in examined.findings if each.mend is None), aside.folder)


def _apply(findings: Iterable[Finding], aside: Aside) -> None:
    for finding in findings:
        if finding.mend is not None:
            finding.mend(aside)
