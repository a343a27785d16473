"""What a seed waits for that has no core yet: another run, or its place in the line and whose core it gets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.widgets import pickers
from app.widgets.opened import Opened
from app.widgets.progress import WAITS, SeedProgress
from glt import formats, jobs
from glt.jobs.waiting import awaited
from glt.store import AnyRun, Run

# Who computes is looked for in every run of the store, so only for the first in the line.
MOST_NAMED = 2


class _AtWork(NamedTuple):
    """A seed that computes: how long still (seconds, infinite when not known yet), and whose it is."""

    seconds_left: float
    words: str


def doing(found: Opened, run: AnyRun, seed: SeedProgress) -> str:
    """Say what a seed does, and of one that is queued what it waits for."""
    return _waits_for(found, run, seed.seed) if seed.state == "queued" else seed.doing


def _waits_for(found: Opened, run: AnyRun, seed: int) -> str:
    source = awaited(found.store, run.config, seed) if isinstance(run, Run) else None
    if source is not None:
        return f"waits for {source}"
    place = jobs.place_in_line(found.store.queue_path, run.seed(seed).status().queued_at)
    if place is None:
        return WAITS
    line = f"{WAITS}, place {place} in the line"
    return line if place > MOST_NAMED else f"{line}{_end(sorted(_at_work(found)), place)}"


def _end(at_work: Sequence[_AtWork], place: int) -> str:
    """Say whose core a place in the line will get: the first gets the first that is free, the second the next."""
    if place > len(at_work):
        return ""
    before = at_work[place - 1]
    if math.isinf(before.seconds_left):
        return f"; {before.words} computes"
    return f"; {before.words} ends in {formats.duration(before.seconds_left)}"


def _at_work(found: Opened) -> Iterator[_AtWork]:
    for run in (*found.own, *found.pretrainings):
        for seed in run.seeds():
            status = run.seed(seed).status()
            if status.state == "running":
                left = status.progress.seconds_left if status.progress else None
                yield _AtWork(math.inf if left is None else left, f"{pickers.run_title(run)}, seed {seed},")
