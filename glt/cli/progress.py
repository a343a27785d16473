"""Progress of workers: follows their files, passes Ctrl-C on, and reports how they ended."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from glt.cli.main import DONE, FAILED, STOPPED
from glt.cli.options import print_plain
from glt.formats import duration, fixed, listing, percent
from glt.jobs.launcher import GRACE, Started, Worker, stop_workers
from glt.store import Event, RoundRecord, SeedFolder, SeedRun, Status
from glt.store.locks import ACTIVE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from glt.jobs.sweep import Point

LOOK_AGAIN = 0.3
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


# Following.


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
    """Catch signals that ask a command to stop, within the context."""
    caught = Interruption()
    before = {number: signal.signal(number, caught) for number in SIGNALS}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(
    begun: Mapping[str, Started[Any]], seeds: Sequence[int], displays: Displays, interrupted: Interruption
) -> list[Status]:
    """Follow seeds until none is running or a signal arrives, which stops what was started; return their statuses.

    Failed seeds are reported on standard error, with the reason and the log; the keys of `begun` say of which run they
    are, where there are several.
    """
    context, shown = displays
    watches: list[tuple[Watch, Display]] = []
    for started, display in zip(begun.values(), shown, strict=True):
        # Seeds are followed from their start, those that others started from now on.
        whole = {worker.seed_run.seed: worker.whole for worker in started.workers}
        watches += [(Watch(started.run.seed(seed), whole.get(seed)), display) for seed in seeds]
    with context:
        while {watch.look(display).state for watch, display in watches} & {*ACTIVE} and not interrupted.requested:
            time.sleep(LOOK_AGAIN)
    if interrupted.requested:
        _stop_gently([worker for started in begun.values() for worker in started.workers])
    return [_ended(started.run.seed(seed), of) for of, started in begun.items() for seed in seeds]


def _ended(seed: SeedFolder, of: str) -> Status:
    status = seed.status()
    if status.state in ("failed", "lost"):
        why = f"{status.error} Log: {seed.log_path}" if seed.path.is_dir() else seed.gone
        print(f"Seed {status.seed}{of} {status.state}: {why}", file=sys.stderr)
    return status


def exit_code(statuses: Sequence[Status]) -> int:
    """Return the exit code for seeds of these states; active ones count as stopped."""
    states = {status.state for status in statuses}
    return FAILED if states & {"failed", "lost"} else STOPPED if states & {"stopped", *ACTIVE} else DONE


def _stop_gently(workers: Sequence[Worker]) -> None:
    """Stop workers after their epoch, or immediately on a second signal."""
    if not workers:
        return
    print("Stopping after the current epoch; interrupt again to stop at once.", file=sys.stderr)
    try:
        stop_workers(workers, GRACE)
    except KeyboardInterrupt:
        stop_workers(workers, 0)


@dataclass
class Watch:
    """One seed, and what was shown of it: its rounds, and its epochs up to an offset in their file (None: nothing)."""

    seed: SeedFolder
    rounds: int | None = None
    offset: int | None = None

    def look(self, display: Display) -> Status:
        """Show what is new and return the status."""
        status, latest = self.seed.status(), None
        if isinstance(self.seed, SeedRun):
            if display.shows_epochs:
                offset = self.seed.event_file.end() if self.offset is None else self.offset
                events, self.offset = self.seed.events(offset)
                latest = events[-1] if events else None
            records = self.seed.rounds()
            for record in records[len(records) if self.rounds is None else self.rounds :]:
                display.show_round(self.seed.seed, record)
            self.rounds = max(self.rounds or 0, len(records))
        display.show_status(self.seed.seed, status, latest)
        return status


def others_line(started: Started[Any]) -> str:
    """Say which seeds are computed by another command, whose workers are never stopped here."""
    return f"{started.run.name}, {listing(started.elsewhere)}: already running, started by another command."


# Displays.


class Display(Protocol):
    """What is shown of each seed; only some displays need the epochs."""

    shows_epochs: bool

    def show_round(self, seed: int, record: RoundRecord) -> None:
        """Show a finished round."""

    def show_status(self, seed: int, status: Status, latest: Event | None) -> None:
        """Show where a seed is, and the scores of its latest epoch."""


# A context for following, and one display per run.
Displays = tuple[AbstractContextManager[Any], Sequence[Display]]


class Lines:
    """One line for each finished round, which begins with `before`."""

    shows_epochs = False

    def __init__(self, console: Console, rounds: int, before: str = "") -> None:
        self._console = console
        self._rounds = rounds
        self._before = before

    def show_round(self, seed: int, record: RoundRecord) -> None:
        """Print a line with sparsities, scores and time."""
        sparsities = f"graph sparsity {percent(record.graph_sparsity)}, weight {percent(record.weight_sparsity)}"
        scores = f"val {percent(record.val)}, test {percent(record.test)}, last {percent(record.test_last)}"
        place = f"{self._before}seed {seed} round {record.round}/{self._rounds}"
        print_plain(self._console, [f"{place}: {sparsities}, {scores}, {fixed(record.seconds, 1)} s"])

    def show_status(self, seed: int, status: Status, latest: Event | None) -> None:
        """Print nothing between rounds."""


class SeedBars:
    """A bar for each seed, with round, stage, epoch, score and time left."""

    shows_epochs = True

    def __init__(self, bars: Progress, rounds: int, seeds: Sequence[int]) -> None:
        self._bars = bars
        self._rounds = rounds
        self._tasks = {
            seed: bars.add_task(f"seed {seed}", total=1.0, doing="queued", score="", left="") for seed in seeds
        }

    def show_round(self, seed: int, record: RoundRecord) -> None:
        """Show the round's test score."""
        self._bars.update(self._tasks[seed], score=f"test {percent(record.test)}")

    def show_status(self, seed: int, status: Status, latest: Event | None) -> None:
        """Move the bar, and show what is being computed."""
        at = status.progress
        doing: str = status.state
        if at is not None and status.state == "running":
            place = f"round {at.round}/{self._rounds} " if at.rounds else ""
            doing = f"{place}{at.stage} {at.epoch}/{at.epochs}"
        left = f"{duration(at.seconds_left)} left" if at and at.seconds_left and status.state == "running" else ""
        self._bars.update(self._tasks[seed], completed=_share_done(status), doing=doing, left=left)
        if latest is not None:
            self._bars.update(self._tasks[seed], score=f"test {percent(latest.test)}")


class PointBar:
    """One bar for all seeds of a point of a sweep, with their states and the latest test score."""

    shows_epochs = False

    def __init__(self, bars: Progress, point: Point, seeds: int) -> None:
        self._bars = bars
        self._seeds = seeds
        self._fractions: dict[int, float] = {}
        self._states: dict[int, str] = {}
        self._task = bars.add_task(point.words, total=1.0, doing="", score="")

    def show_round(self, seed: int, record: RoundRecord) -> None:
        """Show the round's test score."""
        score = f"seed {seed} round {record.round}: test {percent(record.test)}"
        self._bars.update(self._task, score=score)

    def show_status(self, seed: int, status: Status, latest: Event | None) -> None:
        """Move the bar to the mean over seeds, and show how many are in which state."""
        self._fractions[seed] = _share_done(status)
        self._states[seed] = status.state
        completed = sum(self._fractions.values()) / self._seeds
        self._bars.update(self._task, completed=completed, doing=state_words(list(self._states.values())))


def seed_display(console: Console, rounds: int, seeds: Sequence[int]) -> Displays:
    """Return what shows the seeds of one run: bars on a terminal, lines elsewhere."""
    if console.is_terminal:
        bars = _bars(console, "left")
        return bars, [SeedBars(bars, rounds, seeds)]
    return nullcontext(), [Lines(console, rounds)]


def point_displays(console: Console, points: Sequence[Point], seeds: int) -> Displays:
    """Return what shows the points of a sweep: bars on a terminal, lines elsewhere."""
    if console.is_terminal:
        bars = _bars(console)
        return bars, [PointBar(bars, point, seeds) for point in points]
    return nullcontext(), [Lines(console, point.config.rounds, f"{point.words}, ") for point in points]


def state_words(states: Sequence[str]) -> str:
    """Say how many seeds are in which state, or the state they share.

    >>> state_words(["done", "done"]), state_words(["queued", "done", "queued"]), state_words([])
    ('done', '2 queued, 1 done', 'not started')
    """
    counts = {state: states.count(state) for state in dict.fromkeys(states)}
    if not counts:
        return "not started"
    return ", ".join(f"{count} {state}" for state, count in counts.items()) if len(counts) > 1 else states[0]


def _share_done(status: Status) -> float:
    return 1.0 if status.state == "done" else status.progress.fraction if status.progress else 0.0


def _bars(console: Console, *more: str) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    fields = [TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("doing", "score", *more)]
    percentage = TextColumn("{task.percentage:>3.0f} %")
    return Progress(TextColumn("{task.description}", markup=False), BarColumn(), percentage, *fields, console=console)
