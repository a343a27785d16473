"""`sweep`: compute a grid of settings, each point a run, and summarise it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from glt.cli import options
from glt.cli.main import DONE, Args, verb
from glt.cli.run import NAMES, computing, run_settings, settings
from glt.formats import MISSING, as_typed, duration, file_size, listing, number_of, percent_interval

if TYPE_CHECKING:
    from rich.console import Console

    from glt.jobs.launcher import Started
    from glt.jobs.sweep import Point
    from glt.store import Run, SeedRun, Store

CAPTION = (
    "best round: the pruned one with the highest mean validation score; test: mean ± standard deviation over seeds"
)


@verb(
    "sweep",
    "sweep --grid p_graph=.05,.10,.20 p_weight=.10,.20,.40 --seeds 0,1",
    "sweep --config RUN --grid hidden=64,512 --detach",
)
@options.assignments(
    "--grid",
    "KEY=A,B,...",
    "settings to vary and their values, as in --grid p_graph=.05,.10,.20",
    "key=value,value, as in p_graph=.05,.10",
)
@run_settings
@options.store
@options.computing
@options.as_json
def sweep(args: Args) -> int:
    """Compute a grid of settings, each point a run.

    Missing rounds of every point are computed, at the pace of this machine, and summarised at the end.
    """
    from rich.console import Console

    from glt.jobs.launcher import check
    from glt.jobs.sweep import grid_points, read_grid

    grid = read_grid(args.grid)
    # A setting of --config that the grid varies is ignored; one given by name is refused.
    named = {name for name in NAMES if getattr(args, name) is not None} | dict(args.set).keys()
    fixed = {name: value for name, value in settings(args).items() if name in named or name not in grid}
    points = grid_points(fixed, grid, args.preset)
    store = options.open_store(args, writable=True)
    console = Console(stderr=args.json)
    for point in points:
        check(store, point.config, args.seeds, args.device, args.threads)
    _announce(args, console, store, points)
    started, code = start_and_follow_all(store, points, args, console)
    if args.json:
        options.print_json(sweep_document(points, [each.run for each in started], args.seeds))
    else:
        print_summary(console, points, [each.run for each in started], args.seeds)
    return code


def _announce(args: Args, console: Console, store: Store, points: Sequence[Point]) -> None:
    from glt.jobs.estimate import forecast
    from glt.store import bundled_examples

    timed, configs = [*store.runs(), *bundled_examples()], [point.config for point in points]
    cost = forecast(store, configs, args.seeds, timed, args.device)
    runs = f"{number_of(len(points), 'run')} of {listing(args.seeds)} in {store.root}"
    if not cost.epochs:
        line = f"Sweep: {runs}, already complete."
    else:
        time = "" if cost.seconds is None else f", takes about {duration(cost.seconds)} ({cost.basis})"
        size, memory = file_size(cost.size_bytes), file_size(cost.memory_bytes)
        line = f"Sweep: {runs}, {cost.cores} at a time, adds about {size}, needs about {memory} of memory{time}."
    options.print_plain(console, [line])


# Following.


def start_and_follow_all(
    store: Store, points: Sequence[Point], args: Args, console: Console
) -> tuple[list[Started[Run]], int]:
    """Start all points and follow them, unless `--detach`; return what was started and the exit code."""
    from glt.cli.progress import exit_code, follow, interruption, others_line, point_displays
    from glt.jobs.sweep import start_all

    with interruption() as interrupted:
        started = start_all(store, [point.config for point in points], args.seeds, **computing(args))
        options.print_plain(console, [others_line(each) for each in started if each.elsewhere])
        if args.detach:
            options.print_plain(console, [f"Started; see them with: {as_typed('list', '--store', store.root)}"])
            return started, DONE
        begun = {f" of {point.words}": each for point, each in zip(points, started, strict=True)}
        statuses = follow(begun, args.seeds, point_displays(console, points, len(args.seeds)), interrupted)
        if stopped := sum(status.state == "stopped" for status in statuses):
            print(f"Stopped {number_of(stopped, 'worker')}; run the same command to continue.", file=sys.stderr)
        return started, exit_code(statuses)


# Summary.


def sweep_document(points: Sequence[Point], runs: Sequence[Run], seeds: Sequence[int]) -> dict[str, Any]:
    """Return what `sweep --json` prints: the grid, and run, states and mean scores of every point."""
    grid = {name: list(dict.fromkeys(point.values[name] for point in points)) for name in points[0].values}
    return {
        "grid": grid,
        "points": [
            {
                "values": dict(point.values),
                "run": run.name,
                "seeds": {str(one.seed): one.status().state for one in _begun(run, seeds)},
                "rounds": round_means(_begun(run, seeds)),
            }
            for point, run in zip(points, runs, strict=True)
        ],
    }


def print_summary(console: Console, points: Sequence[Point], runs: Sequence[Run], seeds: Sequence[int]) -> None:
    """Print one row per point."""
    from glt.cli.progress import state_words
    from glt.jobs.sweep import value_words

    names = [run.name.rsplit("-", 1) for run in runs]
    shared = f"; run: {names[0][0]}-..." if len({prefix for prefix, _ in names}) == 1 else ""
    columns = (*points[0].values, "state", "best round", "its test", "last round", "its test", "run")
    table = options.plain_table(*columns)
    for point, run, (_, end) in zip(points, runs, names, strict=True):
        states = state_words([one.status().state for one in _begun(run, seeds)])
        values = map(value_words, point.values.values())
        table.add_row(*values, states, *_scores(round_means(_begun(run, seeds))), end if shared else run.name)
    console.print(table)
    options.print_plain(console, [f"{CAPTION}{shared}"])


def round_means(seed_runs: Sequence[SeedRun]) -> list[dict[str, Any]]:
    """Return every round over the seeds that finished it: means, and the standard deviation of the test score."""
    rounds, means = [one.rounds() for one in seed_runs], []
    for number in range(max(map(len, rounds), default=0)):
        records = [of_seed[number] for of_seed in rounds if len(of_seed) > number]
        names = ("graph_sparsity", "weight_sparsity", "val", "test")
        mean = {name: fmean(getattr(record, name) for record in records) for name in names}
        deviation = stdev(record.test for record in records) if len(records) > 1 else None
        means.append({"round": number, "seeds": len(records), **mean, "test_sd": deviation})
    return means


def _scores(means: Sequence[dict[str, Any]]) -> tuple[str, str, str, str]:
    """Return best round and its test score, last round and its test score, as text."""
    if not means:
        return MISSING, MISSING, MISSING, MISSING
    best, last = (_score(max(means[1:], key=lambda mean: mean["val"], default=None)), _score(means[-1]))
    return *best, *last


def _score(mean: dict[str, Any] | None) -> tuple[str, str]:
    if mean is None:
        return MISSING, MISSING
    return str(mean["round"]), percent_interval(mean["test"], math.nan if mean["test_sd"] is None else mean["test_sd"])


def _begun(run: Run, seeds: Sequence[int]) -> list[SeedRun]:
    return [run.seed(seed) for seed in seeds if run.seed(seed).was_started()]
