"""`latency`: time and memory of one round, measured: masks multiplied in, edges removed, sparse matrices."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from glt.cli.arguments import (
    add_json,
    add_progress,
    add_round,
    count,
    find_seed_run,
    positive,
    print_json,
    tell,
    threads,
)
from glt.cli.main import DONE
from glt.cli.verb import VERBS, Verb
from glt.formats import duration, file_size, fixed

if TYPE_CHECKING:
    from glt.cost.latency import LatencyReport
    from glt.store import SeedRun


def add_arguments(parser: ArgumentParser) -> None:
    """Add which round of which seed, and how often and with how many threads it is measured."""
    add_round(parser)
    parser.add_argument("--repeats", type=positive, default=50, metavar="R", help="timed passes (default: 50)")
    parser.add_argument("--warm-up", type=count, default=5, metavar="W", help="passes before them (default: 5)")
    parser.add_argument("--threads", type=threads, default=1, metavar="T", help="compute threads (default: 1)")
    add_progress(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Measure one round on the CPU."""
    from glt.cost.latency import measure
    from glt.lottery.graph import graph_of

    seed_run = find_seed_run(args)
    masks, weights = seed_run.masks(args.round), seed_run.weights(args.round)
    graph = graph_of(seed_run)
    amount = (args.repeats, args.warm_up, args.threads)
    report = measure(seed_run.config, graph, masks, weights, *amount, lambda share: tell(args, share))
    costs = _costs(seed_run, args.round)
    if args.json:
        print_json({**costs, **report.as_json()})
    else:
        _print(report, costs)
    return DONE


def _costs(seed_run: SeedRun, round_: int) -> dict[str, Any]:
    return {
        "run": seed_run.path.parent.name,
        "seed": seed_run.seed,
        "round": round_,
        "disk_bytes": {"round": seed_run.bytes_on_disk(round_), "dense": seed_run.bytes_on_disk(0)},
        "search_seconds": seed_run.search_seconds(round_),
    }


def _print(report: LatencyReport, costs: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from glt.cost.latency import LABELS

    caption = f"a pass: {report.repeats} after {report.warm_up}, {report.threads} thread(s), {report.machine}"
    table = Table("execution", "median", "p10", "p90", "held", "peak", caption=caption)
    for row in report.executions:
        times = [f"{fixed(1000 * value, 2)} ms" for value in (row.median, row.p10, row.p90)]
        table.add_row(LABELS[row.name], *times, file_size(sum(row.held_bytes.values())), file_size(row.peak_bytes))
    console = Console()
    console.print(table)
    disk, search = costs["disk_bytes"], duration(costs["search_seconds"])
    lines = [compared.words() for compared in report.compared]
    lines += [
        *report.notes,
        f"On disk {file_size(disk['round'])}, dense {file_size(disk['dense'])}; found in {search}.",
    ]
    for line in lines:
        console.print(line, highlight=False, markup=False)


VERBS.register(Verb("latency", "Measure time and memory of one round", add_arguments, run))
