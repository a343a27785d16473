"""Following workers to their end: reads what they write, passes a Ctrl-C on, and says how it went."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from glt.cli.displays import Display, SeedDisplay
from glt.cli.main import DONE, FAILED, STOPPED
from glt.commands import command
from glt.formats import listing
from glt.jobs.launching import Started
from glt.jobs.spawning import Worker
from glt.jobs.stopping import GRACE, stop_workers
from glt.store import AnyRun, SeedFolder, SeedRun, Status
from glt.store.liveness import ACTIVE

LOOK_AGAIN = 0.3
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Watch:
    """One seed and how much of it has been shown."""

    seed_run: SeedRun
    rounds: int
    offset: int

    @classmethod
    def on(cls, seed_run: SeedRun, rounds: int | None = None) -> Watch:
        """Watch a seed whose first `rounds` were shown before, by default all that are written already."""
        return cls(seed_run, seed_run.whole_rounds() if rounds is None else rounds, seed_run.event_file.end())

    def look(self, display: SeedDisplay) -> Status:
        """Show what is new and return the status."""
        status = self.seed_run.status()
        events, self.offset = self.seed_run.events(self.offset)
        records = self.seed_run.rounds()
        for record in records[self.rounds :]:
            display.show_round(self.seed_run.seed, record)
        self.rounds = max(self.rounds, len(records))
        display.show_status(self.seed_run.seed, status, events[-1] if events else None)
        return status


@dataclass(frozen=True)
class StatusWatch:
    """One seed of which only the status is shown, because it has no rounds."""

    seed: SeedFolder

    def look(self, display: SeedDisplay) -> Status:
        """Show where it is and return the status."""
        status = self.seed.status()
        display.show_status(self.seed.seed, status, None)
        return status


class Watching(Protocol):
    """Something that can be looked at until it ends."""

    def look(self, display: SeedDisplay) -> Status:
        """Show what is new and return the status."""


def watches_on(started: Started[Any], seeds: Sequence[int]) -> list[Watching]:
    """Watch seeds of whatever kind: those that were started from their start, the others from here on."""
    whole = {worker.seed_run.seed: worker.whole for worker in started.workers}
    found = [started.run.seed(seed) for seed in seeds]
    return [Watch.on(each, whole.get(each.seed)) if isinstance(each, SeedRun) else StatusWatch(each) for each in found]


def others_line(started: Started[Any]) -> str:
    """Say which seeds somebody else's workers compute; those are never stopped here."""
    seeds = ", ".join(map(str, started.elsewhere))
    return f"{started.run.name}, seed {seeds}: at work already; what works there is not stopped here."


class Interruption:
    """Notes the first signal to stop; a second one interrupts at once."""

    def __init__(self) -> None:
        self.requested = False

    def __call__(self, *_: object) -> None:
        """Handle a signal."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Catch the signals that ask a command to stop, for as long as the context lasts."""
    caught = Interruption()
    before = {number: signal.signal(number, caught) for number in SIGNALS}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(started: Started[Any], display: Display, interrupted: Interruption) -> int:
    """Follow seeds until none is at work; return the exit code. When interrupted, what was started is stopped."""
    run, seeds = started.run, sorted([*started.seeds, *started.elsewhere])
    with display:
        statuses = watch_all([(watch, display) for watch in watches_on(started, seeds)], interrupted)
    if interrupted.requested:
        stop_gently(started.workers)
        statuses = [run.seed(seed).status() for seed in seeds]
    return report(run, statuses)


def watch_all(watches: Sequence[tuple[Watching, SeedDisplay]], interrupted: Interruption) -> list[Status]:
    """Look at every seed until none is at work or somebody interrupts, and return the latest statuses."""
    statuses = [watch.look(display) for watch, display in watches]
    while any(status.state in ACTIVE for status in statuses) and not interrupted.requested:
        time.sleep(LOOK_AGAIN)
        statuses = [watch.look(display) for watch, display in watches]
    return statuses


def report(run: AnyRun, statuses: list[Status]) -> int:
    """Say on standard error what failed or was stopped, one line each, and return the exit code."""
    report_failures(run, statuses)
    stopped = [status.seed for status in statuses if status.state == "stopped"]
    if stopped:
        print(f"Stopped {listing(stopped)}; go on with: {command('resume', run.path)}", file=sys.stderr)
    return exit_code(statuses)


def report_failures(run: AnyRun, statuses: Sequence[Status], of: str = "") -> None:
    """Say on standard error which seeds failed, why, and where their logs are; `of` names the run where it must."""
    for status in statuses:
        if status.state in ("failed", "lost"):
            seed = run.seed(status.seed)
            why = f"{status.error} Log: {seed.log_path}" if seed.path.is_dir() else seed.gone
            print(f"Seed {status.seed}{of} {status.state}: {why}", file=sys.stderr)


def exit_code(statuses: Sequence[Status]) -> int:
    """Return what a command exits with when it leaves its seeds so; it leaves one at work when it is stopped."""
    states = {status.state for status in statuses}
    return FAILED if states & {"failed", "lost"} else STOPPED if states & {"stopped", *ACTIVE} else DONE


def stop_gently(workers: Sequence[Worker]) -> None:
    """Stop workers with the grace that they get, and with none when somebody interrupts once more."""
    if not workers:
        return
    print("Stopping, what computes at the end of its epoch; once more to stop at once.", file=sys.stderr)
    try:
        stop_workers(workers, GRACE)
    except KeyboardInterrupt:
        stop_workers(workers, 0)
