"""What `run` and `resume` share: start workers, then follow them or leave them alone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from glt.cli.arguments import print_json
from glt.cli.displays import make_display
from glt.cli.documents import document
from glt.cli.following import follow, interruption, others_line
from glt.cli.main import DONE
from glt.commands import command
from glt.formats import count, duration, file_size, fixed, listing
from glt.jobs.dependencies import awaited
from glt.jobs.devices import Wanted
from glt.jobs.estimate import forecast
from glt.jobs.launching import Started
from glt.lottery.initial_weights import start_words, starts_of
from glt.pretraining.config import pretraining_of
from glt.store import KnownRun, Pretraining, Run, Store, bundled_examples

if TYPE_CHECKING:
    from rich.console import Console

Launch = Callable[[], Started[Any]]


def compute(args: Namespace, launch: Launch) -> int:
    """Launch workers and follow them to their end, or return at once with `--detach`; return the exit code."""
    from rich.console import Console

    run, code = launch_and_follow(args, Console(stderr=args.json), launch)
    # A folder that was moved meanwhile has been told of, and holds nothing to print.
    if args.json and run.path.is_dir():
        print_json(document(run))
    return code


def launch_and_follow(args: Namespace, console: Console, launch: Launch) -> tuple[KnownRun, int]:
    """Do as `compute` does and say it on `console`; return the run and the exit code."""
    with interruption() as interrupted:
        started = launch()
        run: KnownRun = started.run
        working = sorted([*started.seeds, *started.elsewhere])
        for sentence in _announced(args, started):
            console.print(sentence, markup=False, highlight=False, soft_wrap=True)
        code = DONE
        if working and not args.detach:
            code = follow(started, make_display(console, _rounds(run), working), interrupted)
            _conclude(console, run, working)
    return run, code


def _announced(args: Namespace, started: Started[Any]) -> Iterator[str]:
    """Say which seeds were started and what that costs, and which were not and why."""
    run, seeds = started.run, started.seeds
    if seeds and args.detach:
        yield f"Started {run.path}, {listing(seeds)}; see it with: {command('show', run.path)}"
    elif seeds:
        yield f"{run.path}: {listing(seeds)}, {_cost(run, seeds, args.device)}"
    if started.finished:
        yield f"{run.path} is complete already: {_whole(run)} of {listing(started.finished)}."
    if started.elsewhere:
        yield others_line(started)
    yield from _start(run, sorted([*seeds, *started.elsewhere]))


def _start(run: KnownRun, seeds: Sequence[int]) -> Iterator[str]:
    """Say what theta_0 is taken from, and which edges a pre-training sees, where it is not the usual."""
    if isinstance(run, Run):
        store = Store(run.path.parent, writable=False)
        waiting = {seed: name for seed in seeds if (name := awaited(store, run.config, seed)) is not None}
        for name in dict.fromkeys(waiting.values()):
            yield f"{listing([seed for seed in waiting if waiting[seed] == name]).capitalize()}: waiting for {name}."
        name = pretraining_of(run.config)
        if name is not None and seeds and not waiting:
            yield start_words(name, starts_of(run, seeds))
    elif run.config.split_seed is not None:
        yield f"It sees training edges only: those that split_seed {run.config.split_seed} holds out stay unseen."


def _rounds(run: KnownRun) -> int:
    return run.config.rounds if isinstance(run, Run) else 0


def _whole(run: KnownRun) -> str:
    return f"{run.config.rounds} rounds" if isinstance(run, Run) else "the pre-training"


def _conclude(console: Console, run: KnownRun, seeds: Sequence[int]) -> None:
    """Say what finished seeds without rounds have come to; rounds were shown as they came."""
    if isinstance(run, Run):
        return
    for seed in map(run.seed, seeds):
        if seed.is_complete():
            layer = seed.first_layer()
            lowest = f"lowest loss {fixed(layer.loss, 4)} in epoch {layer.best_epoch}"
            line = f"seed {seed.seed}: {layer.epochs} epochs, {lowest}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _cost(run: KnownRun, seeds: Sequence[int], device: Wanted) -> str:
    if isinstance(run, Pretraining):
        most, patience = count(run.config.epochs), count(run.config.patience)
        return f"at most {most} epochs, ends after {patience} without a lower loss"
    store = Store(run.path.parent)
    expected = forecast(store, [run.config], seeds, [*store.runs(), *bundled_examples()], device)
    size = f"adds about {file_size(expected.size_bytes)}, needs about {file_size(expected.memory_bytes)} of memory"
    return size if expected.seconds is None else f"{size}, takes about {duration(expected.seconds)}"
