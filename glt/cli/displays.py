"""How a computation in progress is shown: bars on a terminal, one line a finished round elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from glt.formats import duration, fixed, percent
from glt.store import Event, RoundRecord, Status

if TYPE_CHECKING:
    from rich.console import Console


class SeedDisplay(Protocol):
    """What is told of each seed."""

    def show_round(self, seed: int, record: RoundRecord) -> None:
        """Show a round that has been finished."""

    def show_status(self, seed: int, status: Status, latest: Event | None) -> None:
        """Show where a seed is and the scores of its latest epoch."""


class Display(SeedDisplay, Protocol):
    """What is told of each seed, for as long as a context lasts."""

    def __enter__(self) -> Display: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Lines:
    """One line for each finished round; `before` stands at its head."""

    def __init__(self, console: Console, rounds: int, before: str = "") -> None:
        self._console = console
        self._rounds = rounds
        self._before = before

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show_round(self, seed: int, record: RoundRecord) -> None:
        """Print a line with sparsities, scores and time."""
        sparsities = f"graph sparsity {percent(record.graph_sparsity)}, weight {percent(record.weight_sparsity)}"
        scores = f"val {percent(record.val)}, test {percent(record.test)}, last {percent(record.test_last)}"
        place = f"{self._before}seed {seed} round {record.round}/{self._rounds}"
        line = f"{place}: {sparsities}, {scores}, {fixed(record.seconds, 1)} s"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def show_status(self, seed: int, status: Status, latest: Event | None) -> None:
        """Say nothing between rounds."""


class Bars:
    """A bar for each seed, with round, stage, epoch, score and time left."""

    def __init__(self, console: Console, rounds: int, seeds: list[int]) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        self._rounds = rounds
        texts = [TextColumn("{task.fields[doing]}", markup=False), TextColumn("{task.fields[score]}", markup=False)]
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            *texts,
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
        )
        self._tasks = {
            seed: self._bars.add_task(f"seed {seed}", total=1.0, doing="queued", score="", left="") for seed in seeds
        }

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show_round(self, seed: int, record: RoundRecord) -> None:
        """Show the round's test score."""
        self._bars.update(self._tasks[seed], score=f"test {percent(record.test)}")

    def show_status(self, seed: int, status: Status, latest: Event | None) -> None:
        """Move the bar and say what is being computed."""
        at = status.progress
        doing: str = status.state
        if at is not None and status.state == "running":
            place = f"round {at.round}/{self._rounds} " if at.rounds else ""
            doing = f"{place}{at.stage} {at.epoch}/{at.epochs}"
        left = f"{duration(at.seconds_left)} left" if at and at.seconds_left and status.state == "running" else ""
        fraction = 1.0 if status.state == "done" else at.fraction if at else 0.0
        self._bars.update(self._tasks[seed], completed=fraction, doing=doing, left=left)
        if latest is not None:
            self._bars.update(self._tasks[seed], score=f"test {percent(latest.test)}")


def make_display(console: Console, rounds: int, seeds: list[int]) -> Display:
    """Return bars when the console is a terminal, lines otherwise."""
    return Bars(console, rounds, seeds) if console.is_terminal else Lines(console, rounds)
