"""`cost`: multiply-accumulate operations of one round, layer by layer."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from glt.cli.arguments import add_json, add_round, find_seed_run, print_json
from glt.cli.verb import VERBS, Verb
from glt.formats import macs

if TYPE_CHECKING:
    from glt.cost import MacReport


def add_arguments(parser: ArgumentParser) -> None:
    """Add which round of which seed."""
    add_round(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Count the operations of one round on its real masks."""
    from glt.cost.macs import counterfactuals
    from glt.lottery.graph import graph_of

    seed_run = find_seed_run(args)
    masks = seed_run.masks(args.round)
    counted = counterfactuals(seed_run.config, graph_of(seed_run), masks)
    report = counted["both"]
    if args.json:
        parts = {name: each.by_convention() for name, each in counted.items()}
        print_json({**report.as_json(), "counterfactuals": parts})
    else:
        _print_table(report)
    return 0


def _print_table(report: MacReport) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("convention", "transform", "aggregate", "total", caption="multiply-accumulate operations")
    for name, parts in report.by_convention().items():
        table.add_row(name, *(macs(parts[part]) for part in ("transform", "aggregate", "total")))
    console = Console()
    console.print(table)
    console.print(f"May be pruned: {', '.join(report.prunable) or 'nothing'}", highlight=False, markup=False)
    console.print(f"May not: {', '.join(report.excluded) or 'nothing'}", highlight=False, markup=False)


VERBS.register(Verb("cost", "Count the operations of one round", add_arguments, run))
