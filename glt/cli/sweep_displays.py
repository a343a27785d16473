"""How a sweep in progress is shown: a bar a point on a terminal, one line a finished round elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from glt.cli.displays import Lines, SeedDisplay
from glt.formats import percent
from glt.jobs.sweep import Point
from glt.store import Event, RoundRecord, Status

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


class PointBar:
    """One bar for all seeds of a point, with their states and the latest test score."""

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
        """Move the bar to the mean over seeds and say how many are in which state."""
        at = status.progress
        self._fractions[seed] = 1.0 if status.state == "done" else at.fraction if at else 0.0
        self._states[seed] = status.state
        completed = sum(self._fractions.values()) / self._seeds
        self._bars.update(self._task, completed=completed, doing=state_words(list(self._states.values())))


def point_displays(
    console: Console, points: Sequence[Point], seeds: int
) -> tuple[AbstractContextManager[Any], list[SeedDisplay]]:
    """Return what must be entered while a sweep is followed, and one display a point."""
    if console.is_terminal:
        bars = _bars(console)
        return bars, [PointBar(bars, point, seeds) for point in points]
    return nullcontext(), [Lines(console, point.config.rounds, f"{point.words}, ") for point in points]


def state_words(states: Sequence[str]) -> str:
    """Say how many seeds are in which state, or the state that all share.

    >>> state_words(["done", "done"]), state_words(["queued", "done", "queued"]), state_words([])
    ('done', '2 queued, 1 done', 'not started')
    """
    counts = {state: states.count(state) for state in dict.fromkeys(states)}
    if not counts:
        return "not started"
    return ", ".join(f"{count} {state}" for state, count in counts.items()) if len(counts) > 1 else states[0]


def _bars(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    fields = [TextColumn("{task.fields[doing]}", markup=False), TextColumn("{task.fields[score]}", markup=False)]
    percentage = TextColumn("{task.percentage:>3.0f} %")
    return Progress(TextColumn("{task.description}", markup=False), BarColumn(), percentage, *fields, console=console)
