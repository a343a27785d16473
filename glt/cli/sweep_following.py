"""Starting all runs of a sweep and following them as one; Ctrl-C stops all that was started."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from glt.cli.following import (
    Interruption,
    exit_code,
    interruption,
    others_line,
    report_failures,
    stop_gently,
    watch_all,
    watches_on,
)
from glt.cli.main import DONE
from glt.cli.sweep_displays import point_displays
from glt.commands import command
from glt.formats import number_of
from glt.jobs.launching import Started
from glt.jobs.sweep import Point, start_all
from glt.store import Run, Status, Store

if TYPE_CHECKING:
    from rich.console import Console


def start_and_follow(
    store: Store, points: Sequence[Point], args: Namespace, console: Console
) -> tuple[list[Started[Run]], int]:
    """Start all points, follow them unless `--detach` is given, and return what was started and the exit code."""
    configs = [point.config for point in points]
    with interruption() as interrupted:
        started = start_all(store, configs, args.seeds, device=args.device, threads=args.threads, tied=not args.detach)
        for each in started:
            if each.elsewhere:
                _say(console, others_line(each))
        if args.detach:
            _say(console, f"Started; see them with: {command('list', '--store', store.root)}")
            return started, DONE
        return started, _follow(points, started, args.seeds, console, interrupted)


def _follow(
    points: Sequence[Point],
    started: Sequence[Started[Run]],
    seeds: Sequence[int],
    console: Console,
    interrupted: Interruption,
) -> int:
    context, displays = point_displays(console, points, len(seeds))
    pairs = list(zip(started, displays, strict=True))
    with context:
        watch_all([(watch, shown) for each, shown in pairs for watch in watches_on(each, seeds)], interrupted)
    if interrupted.requested:
        stop_gently([worker for each in started for worker in each.workers])
    ended: list[Status] = []
    for point, each in zip(points, started, strict=True):
        statuses = [each.run.seed(seed).status() for seed in seeds]
        report_failures(each.run, statuses, f" of {point.words}")
        ended += statuses
    stopped = sum(status.state == "stopped" for status in ended)
    if stopped:
        print(f"Stopped {number_of(stopped, 'worker')}; the same command goes on from there.", file=sys.stderr)
    return exit_code(ended)


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)
