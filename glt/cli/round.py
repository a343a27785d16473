"""`audit`, `cost` and `latency`: what one round of one seed is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from glt.cli import options
from glt.cli.main import DONE, FAILED, Args, Verb
from glt.formats import duration, file_size, fixed, macs

if TYPE_CHECKING:
    from glt.cost import MacReport
    from glt.cost.latency import LatencyReport
    from glt.store import SeedRun


@click.command("audit", cls=Verb, examples=("audit RUN --round 13", "audit examples/NAME --round 13 --seed 0 --json"))
@options.round_argument
@options.as_json
def audit(args: Args) -> int:
    """Check that what a round pruned is gone.

    Pruned edges and weights are deleted, the network is computed again, and its logits must not change (1e-5).
    """
    from glt.lottery.audit import audit as audit_round

    report = audit_round(options.find_seed_run(args), args.round)
    if args.json:
        options.print_json(report.as_json())
    else:
        verdict = "passed" if report.passed else "failed"
        why = f" ({report.why})" if report.why else ""
        print(f"Audit {verdict}: the largest difference between logits is {report.max_logit_difference:.2e}{why}.")
    return DONE if report.passed else FAILED


@click.command("cost", cls=Verb, examples=("cost RUN --round 13", "cost RUN --round 13 --seed 1 --json"))
@options.round_argument
@options.as_json
def cost(args: Args) -> int:
    """Count the multiply-accumulate operations of a round."""
    from glt.cost.macs import counterfactuals
    from glt.lottery.graph import graph_of

    seed_run = options.find_seed_run(args)
    masks = seed_run.masks(args.round)
    counted = counterfactuals(seed_run.config, graph_of(seed_run), masks)
    report = counted["both"]
    if args.json:
        parts = {name: each.by_convention() for name, each in counted.items()}
        options.print_json({**report.as_json(), "counterfactuals": parts})
    else:
        _print_cost(report)
    return 0


def _print_cost(report: MacReport) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("convention", "transform", "aggregate", "total", caption="multiply-accumulate operations")
    for name, parts in report.by_convention().items():
        table.add_row(name, *(macs(parts[part]) for part in ("transform", "aggregate", "total")))
    console = Console()
    console.print(table)
    console.print(f"Can be pruned: {', '.join(report.prunable) or 'nothing'}", highlight=False, markup=False)
    console.print(f"Cannot be pruned: {', '.join(report.excluded) or 'nothing'}", highlight=False, markup=False)


@click.command(
    "latency", cls=Verb, examples=("latency RUN --round 13", "latency RUN --round 13 --repeats 200 --threads 2 --json")
)
@options.round_argument
@options.option("--repeats", type=options.POSITIVE, default=50, show_default=True, metavar="R", help="timed passes")
@options.option("--warm-up", type=options.COUNT, default=5, show_default=True, metavar="W", help="passes before them")
@options.option("--threads", type=options.THREADS, default=1, show_default=True, metavar="T", help="compute threads")
@options.progress
@options.as_json
def latency(args: Args) -> int:
    """Measure time and memory of a round on the CPU.

    Three executions are compared with the dense network: masks multiplied in, edges removed, and sparse matrices.
    """
    from glt.cost.latency import measure
    from glt.lottery.graph import graph_of

    seed_run = options.find_seed_run(args)
    masks, weights = seed_run.masks(args.round), seed_run.weights(args.round)
    graph = graph_of(seed_run)
    amount = (args.repeats, args.warm_up, args.threads)
    report = measure(seed_run.config, graph, masks, weights, *amount, lambda share: options.report_share(args, share))
    costs = _costs(seed_run, args.round)
    if args.json:
        options.print_json({**costs, **report.as_json()})
    else:
        _print_latency(report, costs)
    return DONE


def _costs(seed_run: SeedRun, round_: int) -> dict[str, Any]:
    return {
        "run": seed_run.path.parent.name,
        "seed": seed_run.seed,
        "round": round_,
        "disk_bytes": {"round": seed_run.bytes_on_disk(round_), "dense": seed_run.bytes_on_disk(0)},
        "search_seconds": seed_run.search_seconds(round_),
    }


def _print_latency(report: LatencyReport, costs: dict[str, Any]) -> None:
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
