"""`measure RUN --round K`: the unpruned graph and what a round left of it, side by side."""

from __future__ import annotations

import math
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import add_json, add_round, find_seed_run, print_json

if TYPE_CHECKING:
    from analysis.measures import MeasuredRound

WIDTH = 100


def add_arguments(parser: ArgumentParser) -> None:
    """Add RUN, the round, what is measured and the form of the output."""
    add_round(parser)
    parser.add_argument("--all", action="store_true", help="also what takes a minute or more on 20,000 nodes")
    parser.add_argument("--explain", action=_Explain, help="say what every number means and costs, and measure nothing")
    add_json(parser)


class _Explain(Action):
    """Prints what every number means and ends, as --help does: no run is needed for it."""

    def __init__(self, option_strings: Sequence[str], dest: str, **words: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **words)

    def __call__(self, parser: ArgumentParser, *rest: Any) -> None:
        """Print and exit with 0."""
        from analysis.measures import explanations

        for each in explanations():
            print(f"{each.label} ({each.name})")
            for text in (each.definition, f"Reading it: {each.reading}", each.cost):
                print(fill(text, WIDTH, initial_indent="  ", subsequent_indent="  "))
        parser.exit(0)


def run(args: Namespace) -> int:
    """Measure and print; raises StoreError or DataError."""
    from analysis.measures import measure_round

    seed_run = find_seed_run(args)
    name, measured = seed_run.path.parent.name, measure_round(seed_run, args.round, slow=args.all)
    if args.json:
        place = {"run": name, "seed": seed_run.seed, "round": args.round}
        print_json(place | {part: _plain(values) for part, values in measured._asdict().items()} | _sampled(measured))
    else:
        _print_table(measured, f"{name}, seed {seed_run.seed}, round {args.round}")
    return 0


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _sampled(measured: MeasuredRound) -> dict[str, Any]:
    """Return what was estimated, from how many sources, and half the width of each 95 % interval; {} if nothing was."""
    from analysis.measures.bfs import SOURCES

    parts = {part: _plain(values.errors) for part, values in measured._asdict().items()}
    return {"sampled": {"sources": SOURCES, **parts}} if any(parts.values()) else {}


def _print_table(measured: MeasuredRound, title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from analysis.measures import wording

    table = Table("", title=Text(title))
    for heading in ("Original", "Sparsified", "Change"):
        table.add_column(heading, justify="right")
    for name, before in measured.original.items():
        after = measured.sparsified[name]
        shown = [wording.interval(name, part[name], part.errors.get(name, 0.0)) for part in measured]
        texts = *shown, wording.change(before, after)
        table.add_row(wording.label(name), *texts)
    console = Console(file=sys.stdout)
    console.print(table)
    if measured.original.errors:
        console.print(Text(wording.estimated(measured.original.errors)))


VERBS.register(Verb("measure", "Measure the original and the sparsified graph of one round", add_arguments, run))
