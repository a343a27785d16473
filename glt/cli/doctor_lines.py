"""The lines of `doctor` on one run: equal findings of several seeds are one line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from glt.commands import command
from glt.formats import listing, number_of
from glt.store import paths

if TYPE_CHECKING:
    from glt.doctor import Examined, Finding, Repaired

CLEARED = "\r\x1b[K"


def lines_on(examined: Examined, result: Repaired) -> Iterator[str]:
    """Say what was found in a folder, what was repaired, where things were moved, and what to do next."""
    if examined.busy:
        yield f"{examined.folder}: {listing(examined.busy)} at work, not looked at."
    for place, finding in _grouped(result.mended):
        yield f"Repaired: {place} {finding.wrong}; {finding.then}."
    if result.aside is not None:
        yield f"What was moved or cut is in {result.aside}."
    for place, finding in _grouped(result.left):
        yield f"{place} {finding.wrong}: {'with --repair, ' if finding.repair else ''}{finding.then}."
    if examined.run is not None and any("resuming" in finding.then for finding in result.mended):
        yield f"Go on with: {command('resume', examined.folder)}"


def show_progress(looked_at: int) -> None:
    """Say on a terminal how many runs were looked at, on a line that the next one clears."""
    if sys.stderr.isatty():
        print(f"{CLEARED}{number_of(looked_at, 'run')} looked at", end="", file=sys.stderr, flush=True)


def clear_progress() -> None:
    """Clear the line of progress, so that what is printed next stands alone."""
    if sys.stderr.isatty():
        print(CLEARED, end="", file=sys.stderr, flush=True)


def _grouped(findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Return each kind of finding once, with the file it is on, or with the run and all seeds whose file it is on."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        is_of_seed = paths.seed_of(finding.path.parent.name) is not None
        place = (finding.path.parents[1], finding.path.name) if is_of_seed else (finding.path,)
        groups.setdefault((*place, finding.wrong, finding.then, finding.repair is None), []).append(finding)
    for group in groups.values():
        first = group[0].path
        seeds = [seed for each in group if (seed := paths.seed_of(each.path.parent.name)) is not None]
        run = first.parents[1]
        yield (f"{run}: {first.name} of {listing(seeds)}" if len(group) > 1 else str(first)), group[0]
