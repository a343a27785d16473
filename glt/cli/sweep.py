"""`sweep`: compute every point of a grid over settings, each an ordinary run of the store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glt.cli.arguments import add_assignments, add_computing, add_json, add_store, open_store, print_json
from glt.cli.run import NAMES, add_settings, settings
from glt.cli.verb import VERBS, Verb
from glt.formats import duration, file_size, listing, number_of

if TYPE_CHECKING:
    from rich.console import Console

    from glt.jobs.sweep import Grid, Point
    from glt.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """Add the grid, what is the same at all its points, and where runs are kept."""
    told = "settings to vary and their values, as in --grid p_graph=.05,.10,.20 p_weight=.10,.20,.40"
    form = "key=value,value, as in p_graph=.05,.10"
    add_assignments(parser, "--grid", "KEY=A,B,...", told, form)
    add_settings(parser)
    add_store(parser)
    add_computing(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Start what is missing of every point, follow all of it to its end, and print one summary."""
    from rich.console import Console

    from glt.cli.sweep_following import start_and_follow
    from glt.cli.sweep_summary import print_summary, sweep_document
    from glt.jobs.launching import check
    from glt.jobs.sweep import grid_points, read_grid

    grid = read_grid(args.grid)
    points = grid_points(_fixed(args, grid), grid, args.preset)
    store = open_store(args, writable=True)
    console = Console(stderr=args.json)
    for point in points:
        check(store, point.config, args.seeds, args.device, args.threads)
    _announce(args, console, store, points)
    started, code = start_and_follow(store, points, args, console)
    if args.json:
        print_json(sweep_document(points, [each.run for each in started], args.seeds))
    else:
        print_summary(console, points, [each.run for each in started], args.seeds)
    return code


def _fixed(args: Namespace, grid: Grid) -> dict[str, Any]:
    """Return the settings that the grid leaves alone; what `--config` says of a varied one gives way."""
    named = {name for name in NAMES if getattr(args, name) is not None} | dict(args.set).keys()
    return {name: value for name, value in settings(args).items() if name in named or name not in grid}


def _announce(args: Namespace, console: Console, store: Store, points: Sequence[Point]) -> None:
    from glt.jobs.estimate import forecast
    from glt.store import bundled_examples

    timed, configs = [*store.runs(), *bundled_examples()], [point.config for point in points]
    cost = forecast(store, configs, args.seeds, timed, args.device)
    runs = f"{number_of(len(points), 'run')} of {listing(args.seeds)} in {store.root}"
    if not cost.epochs:
        line = f"Sweep: {runs}, complete already."
    else:
        time = "" if cost.seconds is None else f", takes about {duration(cost.seconds)} ({cost.basis})"
        size, memory = file_size(cost.size_bytes), file_size(cost.memory_bytes)
        line = f"Sweep: {runs}, {cost.cores} at a time, adds about {size}, needs about {memory} of memory{time}."
    console.print(line, markup=False, highlight=False, soft_wrap=True)


VERBS.register(Verb("sweep", "Compute a grid of settings, each point a run", add_arguments, run))
